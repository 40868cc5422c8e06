package org.nemorelay.bench;

import java.nio.file.Path;

/** An implementation under measurement: its executable, and the prefix its worker needs to see its configuration. */
record Subject(String name, Path executable) {}
