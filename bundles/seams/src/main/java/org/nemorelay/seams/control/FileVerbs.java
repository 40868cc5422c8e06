package org.nemorelay.seams.control;

import org.nemorelay.seams.Context;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.workerctl.FileEnsureReply;
import org.nemorelay.workerctl.FileEnsureRequest;
import org.nemorelay.workerctl.FileListDirReply;
import org.nemorelay.workerctl.FileListDirRequest;
import org.nemorelay.workerctl.FileReleaseReply;
import org.nemorelay.workerctl.FileReleaseRequest;
import org.nemorelay.workerctl.FileStageReply;
import org.nemorelay.workerctl.FileStageRequest;
import org.nemorelay.workerctl.FileTempReply;
import org.osgi.annotation.versioning.ConsumerType;

/** A node's answers to the file verbs (distributed-seams 5.4). Called on the carrier's threads. */
@ConsumerType
public interface FileVerbs {
    FileEnsureReply ensure(Context context, FileEnsureRequest request);

    FileStageReply stage(Context context, FileStageRequest request);

    FileTempReply temp(Context context);

    FileListDirReply list(Context context, FileListDirRequest request);

    FileReleaseReply release(Context context, FileReleaseRequest request);

    /** Serves them all, or throws at the first that the carrier has no place for. A body that is no request is refused. */
    static void serve(ControlServer server, FileVerbs files) {
        String invalid = "invalid request";
        server.handle(
                ControlVerb.FILES_ENSURE,
                Need.MANDATORY,
                ControlHandler.unary(
                        FileEnsureRequest::decode, cause -> FileEnsureReply.refused(invalid), files::ensure));
        server.handle(
                ControlVerb.FILES_STAGE,
                Need.MANDATORY,
                ControlHandler.unary(FileStageRequest::decode, cause -> FileStageReply.refused(invalid), files::stage));
        server.handle(ControlVerb.FILES_TEMP, Need.MANDATORY, ControlHandler.unary(files::temp));
        server.handle(
                ControlVerb.FILES_LISTDIR,
                Need.MANDATORY,
                ControlHandler.unary(
                        FileListDirRequest::decode, cause -> FileListDirReply.refused(invalid), files::list));
        server.handle(
                ControlVerb.FILES_RELEASE,
                Need.MANDATORY,
                ControlHandler.unary(
                        FileReleaseRequest::decode, cause -> FileReleaseReply.refused(invalid), files::release));
    }
}
