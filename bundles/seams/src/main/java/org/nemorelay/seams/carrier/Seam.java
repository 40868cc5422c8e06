package org.nemorelay.seams.carrier;

/** The seams, as a carrier declares which of them it serves. */
public enum Seam {
    FAN_OUT,
    QUEUES,
    CONTROL,
    AGENT_RPC,
    DIAL,
    STAGING
}
