package org.nemorelay.daemon.internal;

import org.nemorelay.http.Origin;
import org.nemorelay.http.WireProtocol;

/** How requests reach one worker. */
record WorkerRoute(Origin origin, WireProtocol protocol) {}
