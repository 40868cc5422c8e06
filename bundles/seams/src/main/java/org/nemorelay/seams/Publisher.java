package org.nemorelay.seams;

import org.osgi.annotation.versioning.ProviderType;

/** Where messages go out. Safe for any thread; one thread's messages keep their order. */
@ProviderType
public interface Publisher {
    /**
     * Hands a message to every subscriber that is there now, this process's own included. At most once; nothing is kept
     * for later. The body is the encoded event, encoded exactly once by its record.
     *
     * @throws SubjectException before the transport is touched
     * @throws PayloadTooLargeException when the carrier does not take as much
     * @throws AbsentException when the link is down and the carrier keeps nothing for its return
     */
    void publish(Message message);

    default void publish(String subject, byte[] body) {
        publish(Message.of(subject, body));
    }
}
