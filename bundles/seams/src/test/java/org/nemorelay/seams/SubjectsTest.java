package org.nemorelay.seams;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SubjectsTest {
    /** One row for each root; a root that has none here is one that nobody decided on. */
    private static final String[][] ROOTS = {
        {"jobs", "jobs.new"},
        {"agent", "agent.execute"},
        {"gallery", "gallery.opcache.start"},
        {"cache", "cache.invalidate.models"},
        {"staging", "staging.m.progress"},
        {"prefixcache", "prefixcache.observe"},
        {"responses", "responses.r.cancel"},
        {"state", "state.n.delta"},
        {"finetune", "finetune.f.progress"},
        {"nodes", "nodes.n.backend.install"},
        {"mcp", "mcp.discovery"},
    };

    @Test
    void everyRootHasItsRow() {
        Set<String> declared = new TreeSet<>(Subjects.BROADCAST_ROOTS.keySet());
        declared.addAll(Subjects.CONTROL_ROOTS.keySet());
        Set<String> rows = new TreeSet<>();
        for (String[] row : ROOTS) {
            rows.add(row[0]);
            Subjects.validate(row[1]);
        }
        assertEquals(declared, rows);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "jobs.", ".jobs", "jobs..new", "unknown.x", "job", "jobsx.new"})
    void refusesAnUnservedSubject(String subject) {
        UnservedSubjectException refused =
                assertThrows(UnservedSubjectException.class, () -> Subjects.validate(subject));
        assertTrue(refused.getMessage().contains("\"" + subject + "\""), refused.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"jobs.>", ">", "jobs.a>b", "*.new", "*", "jobs.ab*", "jobs.*b.c", "jobs.**"})
    void refusesAnUnsupportedWildcard(String subject) {
        UnsupportedWildcardException refused =
                assertThrows(UnsupportedWildcardException.class, () -> Subjects.validate(subject));
        assertTrue(refused.getMessage().contains("\"" + subject + "\""), refused.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"jobs.*.cancel", "agent.*.events.*", "jobs", "jobs.*"})
    void letsWholeTokenWildcardsThrough(String subject) {
        assertDoesNotThrow(() -> Subjects.validate(subject));
    }

    @ParameterizedTest
    @CsvSource({
        "jobs.*.cancel,jobs.a.cancel,true",
        "jobs.*.cancel,jobs.a.result,false",
        "jobs.*.cancel,jobs.a.b.cancel,false",
        "jobs.*,jobs.a.cancel,false",
        "jobs.*.cancel,jobs.a,false",
        "jobs.new,jobs.new,true",
        "jobs.new,jobs.newer,false",
        "agent.*.events.*,agent.x.events.u,true"
    })
    void aStarMatchesExactlyOneToken(String pattern, String subject, boolean matches) {
        assertEquals(matches, Subjects.matches(pattern, subject));
    }

    @Test
    void constructorsMakeOneTokenOfWhateverTheyAreGiven() {
        assertEquals("jobs.a-b-c-d-e-f.result", Subjects.jobResult("a.b*c>d e\tf"));
        assertEquals("agent.n.events.anonymous", Subjects.agentEvents("n", ""));
        assertEquals("nodes.a-b.backend.install.x-y.progress", Subjects.installProgress("a.b", "x.y"));
        assertEquals("a-b-", Subjects.token("a\nb\r"));
    }

    @Test
    void everyConstructorPassesTheValidator() throws ReflectiveOperationException {
        List<String> seen = new ArrayList<>();
        for (Method method : Subjects.class.getMethods()) {
            if (Modifier.isStatic(method.getModifiers())
                    && method.getReturnType() == String.class
                    && !method.getName().equals("token")) {
                Object[] arguments = new Object[method.getParameterCount()];
                Arrays.fill(arguments, "x");
                String subject = (String) method.invoke(null, arguments);
                Subjects.validate(subject);
                seen.add(subject);
            }
        }
        assertFalse(seen.isEmpty());
    }
}
