package org.nemorelay.protocol.control;

/** A transcript with the initiator's signature. */
public record SignedTranscript(Transcript transcript, Proof initiatorProof) {
    /** Whether the transcript's initiator signed it in its own role. */
    public boolean intact() {
        return intact(Signatures.JDK);
    }

    /** The same, looked at by that implementation. */
    public boolean intact(SignatureScheme scheme) {
        return initiatorProof.proves(
                transcript.initiator().role(), transcript.initiatorPublicIdentity(), transcript, scheme);
    }
}
