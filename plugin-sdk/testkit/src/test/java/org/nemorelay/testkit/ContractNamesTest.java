package org.nemorelay.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The seams' doc comments name the tests that pin their clauses; those tests are there. */
class ContractNamesTest {
    private static final Path SEAMS = Path.of("../../bundles/seams/src/main/java/org/nemorelay/seams");

    private static Set<String> found(Path file, String pattern) throws IOException {
        return Pattern.compile(pattern)
                .matcher(Files.readString(file))
                .results()
                .map((MatchResult match) -> match.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void eachClauseOfTheLoadOperationsNamesATestOfTheirSuite() throws IOException {
        Set<String> named = found(SEAMS.resolve("control/LoadOperationControl.java"), "\\(\\{@code ([a-z]\\w+)}\\)");
        Set<String> tests = Arrays.stream(LoadOperationConformance.class.getDeclaredMethods())
                .map(Method::getName)
                .collect(Collectors.toSet());
        assertEquals(
                List.of(), named.stream().filter(name -> !tests.contains(name)).toList());
        assertEquals(11, named.size(), "clauses with a test");
    }

    @Test
    void everySuiteThatIsNamedIsThereAndEverySuiteIsNamed() throws IOException {
        Set<String> named = new TreeSet<>();
        try (Stream<Path> files = Files.walk(SEAMS)) {
            for (Path file :
                    files.filter(one -> one.toString().endsWith(".java")).toList()) {
                named.addAll(found(file, "\\{@code (\\w+Conformance)}"));
            }
        }
        try (Stream<Path> suites = Files.list(Path.of("src/main/java/org/nemorelay/testkit"))) {
            Set<String> there = suites.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith("Conformance.java"))
                    .map(name -> name.replace(".java", ""))
                    .collect(Collectors.toSet());
            assertTrue(there.containsAll(named), named + " of " + there);
            // The one they share, and those of the carrier as a whole and of dialling, are about no single interface.
            there.removeAll(List.of("Conformance", "DeclaredSeamsConformance", "DialerConformance"));
            assertEquals(there, named);
        }
    }
}
