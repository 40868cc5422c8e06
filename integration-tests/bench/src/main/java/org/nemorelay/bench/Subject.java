package org.nemorelay.bench;

import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.nemorelay.it.Proc;

/**
 * An implementation under measurement.
 *
 * @param around puts what it starts where its worker finds the administrator's configuration
 */
record Subject(String name, Path executable, UnaryOperator<Proc.Spec> around) {}
