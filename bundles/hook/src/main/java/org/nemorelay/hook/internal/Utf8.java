package org.nemorelay.hook.internal;

/** Tells where bytes stop being UTF-8, without decoding them. */
final class Utf8 {
    private Utf8() {}

    /** Index of the first sequence that is not UTF-8 (RFC 3629), or -1. */
    static int firstInvalid(byte[] bytes) {
        int i = 0;
        while (i < bytes.length) {
            int first = bytes[i] & 0xff;
            int more;
            int low = 0x80;
            int high = 0xbf;
            if (first < 0x80) {
                i++;
                continue;
            } else if (first >= 0xc2 && first <= 0xdf) {
                more = 1;
            } else if (first >= 0xe0 && first <= 0xef) {
                more = 2;
                low = first == 0xe0 ? 0xa0 : 0x80;
                high = first == 0xed ? 0x9f : 0xbf;
            } else if (first >= 0xf0 && first <= 0xf4) {
                more = 3;
                low = first == 0xf0 ? 0x90 : 0x80;
                high = first == 0xf4 ? 0x8f : 0xbf;
            } else {
                return i;
            }
            for (int k = 1; k <= more; k++) {
                int next = i + k < bytes.length ? bytes[i + k] & 0xff : 0;
                if (next < low || next > high) {
                    return i;
                }
                low = 0x80;
                high = 0xbf;
            }
            i += more + 1;
        }
        return -1;
    }
}
