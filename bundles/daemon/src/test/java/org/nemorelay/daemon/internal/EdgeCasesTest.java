package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The register of the 113 edge cases of relay-daemon 11: {@code edge-cases.txt} names the tests of each, or says why it
 * cannot apply. What it names must be there and be a test, one of them named by the number of the case, and no test may carry
 * the number of a case that cannot apply.
 */
class EdgeCasesTest {
    private static final int CASES = 113;
    private static final Pattern ANNOTATION =
            Pattern.compile("    @(Test|ParameterizedTest|RepeatedTest|Property)\\b.*");
    private static final Pattern METHOD = Pattern.compile("    void (\\w+)\\(.*");
    private static final Pattern NUMBERED = Pattern.compile("case(\\d+)(?:And(?:Case)?(\\d+))?.*");

    /** Names of the test methods by simple name of their class. */
    private final Map<String, TreeSet<String>> tests = new HashMap<>();

    private final Map<Integer, String> register = new TreeMap<>();

    EdgeCasesTest() throws IOException {
        Path top = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(top.resolve("integration-tests"))) {
            top = top.getParent();
        }
        for (String folder : List.of("bundles", "integration-tests", "plugin-sdk")) {
            try (Stream<Path> files = Files.walk(top.resolve(folder))) {
                for (Path file : files.filter(EdgeCasesTest::isTest).toList()) {
                    tests.computeIfAbsent(file.getFileName().toString().replace(".java", ""), unused -> new TreeSet<>())
                            .addAll(methods(Files.readAllLines(file)));
                }
            }
        }
        try (var in = EdgeCasesTest.class.getResourceAsStream("/edge-cases.txt")) {
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .toList()) {
                String[] parts = line.split(" ", 2);
                assertEquals(null, register.put(Integer.parseInt(parts[0]), parts[1]), line + " stands twice");
            }
        }
    }

    /** The methods with an annotation that makes them tests; the sources are formatted. */
    private static List<String> methods(List<String> lines) {
        List<String> methods = new ArrayList<>();
        boolean annotated = false;
        for (String line : lines) {
            annotated = (annotated || ANNOTATION.matcher(line).matches()) && !line.equals("    }");
            Matcher method = METHOD.matcher(line);
            if (annotated && method.matches()) {
                methods.add(method.group(1));
                annotated = false;
            }
        }
        return methods;
    }

    private static boolean isTest(Path file) {
        String path = file.toString();
        return path.endsWith("Test.java") && path.contains("/src/test/") && !path.contains("/target/");
    }

    private static List<String> named(String entry) {
        return entry.startsWith("- ") ? List.of() : List.of(entry.split(" "));
    }

    @Test
    void everyCaseStandsOnce() {
        assertEquals(IntStream.rangeClosed(1, CASES).boxed().toList(), List.copyOf(register.keySet()));
        register.forEach((number, entry) -> assertTrue(
                !named(entry).isEmpty() || entry.length() > 20, () -> number + " has neither test nor reason"));
    }

    @Test
    void whatIsNamedIsATest() {
        List<String> missing = new ArrayList<>();
        register.forEach((number, entry) -> {
            for (String test : named(entry)) {
                String[] parts = test.split("#");
                if (parts.length != 2
                        || !tests.getOrDefault(parts[0], new TreeSet<>()).contains(parts[1])) {
                    missing.add(number + " " + test);
                }
            }
        });
        assertEquals(List.of(), missing);
    }

    @Test
    void aTestOfEachCaseCarriesItsNumber() {
        register.forEach((number, entry) -> assertTrue(
                named(entry).isEmpty()
                        || named(entry).stream()
                                .map(test -> NUMBERED.matcher(test.substring(test.indexOf('#') + 1)))
                                .anyMatch(name -> name.matches()
                                        && (carries(name.group(1), number) || carries(name.group(2), number))),
                () -> "no test is named by " + number + ": " + entry));
    }

    private static boolean carries(String digits, int number) {
        return digits != null && Integer.parseInt(digits) == number;
    }

    @Test
    void whatCarriesANumberBelongsToACaseThatApplies() {
        List<String> wrong = new ArrayList<>();
        tests.forEach((type, methods) -> methods.forEach(method -> {
            Matcher numbered = NUMBERED.matcher(method);
            if (numbered.matches()) {
                for (int group = 1; group <= 2; group++) {
                    String number = numbered.group(group);
                    if (number != null
                            && named(register.getOrDefault(Integer.parseInt(number), "- "))
                                    .isEmpty()) {
                        wrong.add(number + " " + type + "#" + method);
                    }
                }
            }
        }));
        assertEquals(List.of(), wrong);
    }
}
