package org.nemorelay.it.faults;

import java.nio.file.Path;
import java.time.Duration;
import org.nemorelay.it.Proc;

/**
 * An authority and the certificate of one listener, made by openssl for one run.
 *
 * @param authority what clients trust
 */
record Certificates(Path authority, Path certificate, Path key) {
    /** @param names as in a subjectAltName, such as {@code DNS:localhost,IP:127.0.0.1} */
    static Certificates make(Path folder, String names) {
        Proc.Result made =
                Proc.spec().in(folder).command("sh", "-ec", """
                        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem \\
                            -days 30 -subj /CN=authority
                        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout own.key -out own.csr -subj /CN=own
                        printf 'subjectAltName=%s\\n' "$1" > names
                        openssl x509 -req -in own.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile names -out own.pem
                        """, "sh", names).run(Duration.ofSeconds(30));
        if (made.exit() != 0) {
            throw new AssertionError("openssl: " + made.stderr());
        }
        return new Certificates(folder.resolve("ca.pem"), folder.resolve("own.pem"), folder.resolve("own.key"));
    }
}
