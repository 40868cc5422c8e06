package org.nemorelay.framework;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.nemorelay.launcher.RoleFrameworkFactory;
import org.ops4j.pax.exam.ExamSystem;
import org.ops4j.pax.exam.TestContainer;
import org.ops4j.pax.exam.TestContainerFactory;
import org.ops4j.pax.exam.nat.internal.NativeTestContainer;

/** Pax Exam's native container around our launch arrangement only; by itself it would take Felix's own factory too. */
public final class RoleContainerFactory implements TestContainerFactory {
    @Override
    public TestContainer[] create(ExamSystem system) {
        try {
            return new TestContainer[] {new NativeTestContainer(system, new RoleFrameworkFactory())};
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
