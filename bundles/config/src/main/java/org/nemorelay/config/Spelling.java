package org.nemorelay.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;

/** What somebody may have meant who wrote a word that is not known. */
public final class Spelling {
    private static final int SHORT = 4;

    private Spelling() {}

    /** The known word that is one letter off, or two where it is long; case and the kind of dash aside. */
    public static Optional<String> meant(String word, Collection<String> known) {
        String written = plain(word);
        return known.stream()
                .filter(each -> distance(written, plain(each)) <= (each.length() <= SHORT ? 1 : 2))
                .min(Comparator.comparingInt(each -> distance(written, plain(each))));
    }

    /** The end of a line about a key: what was meant, or else what there is. */
    public static String instead(String word, Collection<String> known) {
        return meant(word, known)
                .map(each -> "; did you mean \"" + each + "\"?")
                .orElseGet(() -> "; known: " + String.join(", ", new TreeSet<>(known)));
    }

    private static String plain(String word) {
        return word.toLowerCase(Locale.ROOT).replace('-', '_');
    }

    /** How many letters are added, left out, changed or exchanged with their neighbour. */
    private static int distance(String a, String b) {
        int[][] rows = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    rows[i][j] = i + j;
                    continue;
                }
                int changed = rows[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                rows[i][j] = Math.min(changed, 1 + Math.min(rows[i - 1][j], rows[i][j - 1]));
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
                }
            }
        }
        return rows[a.length()][b.length()];
    }
}
