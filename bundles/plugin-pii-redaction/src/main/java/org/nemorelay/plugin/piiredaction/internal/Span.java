package org.nemorelay.plugin.piiredaction.internal;

/** A piece of a text that must not be recorded. */
record Span(int begin, int end) {}
