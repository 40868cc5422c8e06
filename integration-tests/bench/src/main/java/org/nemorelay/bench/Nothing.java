package org.nemorelay.bench;

/** A Java program that does nothing: what the start of a short process is compared to. */
public final class Nothing {
    private Nothing() {}

    public static void main(String[] arguments) {}
}
