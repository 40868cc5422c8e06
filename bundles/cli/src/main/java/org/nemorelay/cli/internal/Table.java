package org.nemorelay.cli.internal;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Rows of text in aligned columns. */
public record Table(List<List<String>> rows) {
    /** Without anything that would move a terminal's cursor. */
    static String plain(String text) {
        StringBuilder plain = new StringBuilder();
        text.codePoints().forEach(c -> {
            if (Character.getType(c) == Character.CONTROL
                    || Character.getType(c) == Character.LINE_SEPARATOR
                    || Character.getType(c) == Character.PARAGRAPH_SEPARATOR) {
                plain.append("\\u").append(HexFormat.of().toHexDigits((char) c));
            } else {
                plain.appendCodePoint(c);
            }
        });
        return plain.toString();
    }

    public void append(StringBuilder out) {
        List<List<String>> rows = this.rows.stream()
                .map(row -> row.stream().map(Table::plain).toList())
                .toList();
        List<Integer> widths = new ArrayList<>();
        for (List<String> row : rows) {
            for (int i = 0; i < row.size(); i++) {
                int width = row.get(i).length();
                if (i == widths.size()) {
                    widths.add(width);
                } else {
                    widths.set(i, Math.max(widths.get(i), width));
                }
            }
        }
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < row.size(); i++) {
                line.append(row.get(i));
                if (i < row.size() - 1) {
                    line.repeat(' ', widths.get(i) - row.get(i).length() + 2);
                }
            }
            out.append(line.toString().stripTrailing()).append('\n');
        }
    }
}
