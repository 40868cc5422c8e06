package org.nemorelay.seams.control;

import java.util.List;

/** One verb that a node serves (distributed-seams 4.1). A verb outside {@link #ALL} is one that only some carrier serves. */
public record ControlVerb(String name) {
    public static final ControlVerb BACKEND_INSTALL = new ControlVerb("backend.install");
    public static final ControlVerb BACKEND_UPGRADE = new ControlVerb("backend.upgrade");
    public static final ControlVerb BACKEND_STOP = new ControlVerb("backend.stop");
    public static final ControlVerb BACKEND_DELETE = new ControlVerb("backend.delete");
    public static final ControlVerb BACKEND_LIST = new ControlVerb("backend.list");
    public static final ControlVerb MODELS_RUNNING = new ControlVerb("models.running");
    public static final ControlVerb MODEL_UNLOAD = new ControlVerb("model.unload");
    public static final ControlVerb MODEL_STOP = new ControlVerb("model.stop");
    public static final ControlVerb MODEL_DELETE = new ControlVerb("model.delete");
    public static final ControlVerb MODEL_OP = new ControlVerb("model.op");
    public static final ControlVerb FILES_ENSURE = new ControlVerb("files.ensure");
    public static final ControlVerb FILES_STAGE = new ControlVerb("files.stage");
    public static final ControlVerb FILES_TEMP = new ControlVerb("files.temp");
    public static final ControlVerb FILES_LISTDIR = new ControlVerb("files.listdir");
    public static final ControlVerb FILES_RELEASE = new ControlVerb("files.release");
    public static final ControlVerb NODE_STOP = new ControlVerb("node.stop");

    /** Every verb that every control carrier serves. */
    public static final List<ControlVerb> ALL = List.of(
            BACKEND_INSTALL,
            BACKEND_UPGRADE,
            BACKEND_STOP,
            BACKEND_DELETE,
            BACKEND_LIST,
            MODELS_RUNNING,
            MODEL_UNLOAD,
            MODEL_STOP,
            MODEL_DELETE,
            MODEL_OP,
            FILES_ENSURE,
            FILES_STAGE,
            FILES_TEMP,
            FILES_LISTDIR,
            FILES_RELEASE,
            NODE_STOP);

    @Override
    public String toString() {
        return name;
    }
}
