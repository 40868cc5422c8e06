package org.nemorelay.config.internal;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.config.PluginPlan.Position;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;
import org.tomlj.Toml;
import org.tomlj.TomlArray;
import org.tomlj.TomlParseError;
import org.tomlj.TomlParseResult;
import org.tomlj.TomlPosition;
import org.tomlj.TomlTable;

/** Reads a TOML file into {@link TomlValue}; the only class that knows the parser. Every failure is {@link FailureKind#CONFIGURATION}. */
final class TomlFile {
    private static final int MAX_BYTES = 1 << 20;

    private static final Path NOTHING = Path.of("/dev/null");

    /** Some editors write it. */
    private static final String BYTE_ORDER_MARK = "\ufeff";

    private TomlFile() {}

    /** The file's content; empty where there is no such file. */
    static Optional<TomlValue.Table> read(Path file) {
        if (Files.exists(file) && !Files.isRegularFile(file) && !Files.isDirectory(file) && !isNothing(file)) {
            // It might never come to an end, or not even begin.
            throw new RelayException(
                    FailureKind.CONFIGURATION, file + " is a pipe or a device, put a file in its place");
        }
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes(MAX_BYTES + 1);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new RelayException(FailureKind.CONFIGURATION, file + " cannot be read: " + Reasons.of(e), e);
        }
        if (bytes.length > MAX_BYTES) {
            throw new RelayException(FailureKind.CONFIGURATION, file + " is larger than 1 MiB");
        }
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            return Optional.of(parse(file.toString(), text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text));
        } catch (CharacterCodingException e) {
            throw new RelayException(FailureKind.CONFIGURATION, file + " is not UTF-8 text", e);
        }
    }

    /** {@code --config /dev/null} is how one starts without a file. */
    private static boolean isNothing(Path file) {
        try {
            return Files.isSameFile(file, NOTHING);
        } catch (IOException e) {
            return false;
        }
    }

    static TomlValue.Table parse(String file, String text) {
        TomlParseResult result = Toml.parse(text);
        if (result.hasErrors()) {
            TomlParseError first = result.errors().getFirst();
            throw Failures.at(
                    position(file, first.position()), "not valid TOML: " + withoutContent(first.getMessage()));
        }
        return table(file, result, new Position(file, 1, 1));
    }

    /** The parser quotes what it stumbled over, which may be a credential without its quotes. */
    private static String withoutContent(String message) {
        int expected = message.startsWith("Unexpected '") ? message.lastIndexOf("', expected ") : -1;
        String text = expected < 0 ? message : "unexpected text" + message.substring(expected + 1);
        return text.replace("\n", "\\n");
    }

    private static TomlValue.Table table(String file, TomlTable table, Position position) {
        Map<String, TomlValue> entries = new LinkedHashMap<>();
        for (String key : table.keySet()) {
            List<String> path = List.of(key);
            TomlPosition at = table.inputPositionOf(path);
            entries.put(key, value(file, table.get(path), at == null ? position : position(file, at)));
        }
        return new TomlValue.Table(entries, position);
    }

    private static TomlValue value(String file, Object value, Position position) {
        return switch (value) {
            case TomlTable table -> table(file, table, position);
            case TomlArray array -> {
                List<TomlValue> items = new ArrayList<>();
                for (int i = 0; i < array.size(); i++) {
                    TomlPosition at = array.inputPositionOf(i);
                    items.add(value(file, array.get(i), at == null ? position : position(file, at)));
                }
                yield new TomlValue.Array(List.copyOf(items), position);
            }
            default -> new TomlValue.Scalar(value, position);
        };
    }

    private static Position position(String file, TomlPosition position) {
        return new Position(file, position.line(), position.column());
    }
}
