package org.nemorelay.backend;

/** Names of those of the service's methods that the fleet calls. */
public final class Methods {
    public static final String HEALTH = "Health";
    public static final String FREE = "Free";
    public static final String PREDICT = "Predict";
    public static final String PREDICT_STREAM = "PredictStream";
    public static final String LOAD_MODEL = "LoadModel";
    public static final String STATUS = "Status";

    private Methods() {}
}
