package org.nemorelay.broker;

/** A worker under one data token: a new one for every publication, so that late failures of an older one are known. */
final class Target implements Gate {
    final Worker worker;
    final String dataToken;

    Target(Worker worker, String dataToken) {
        this.worker = worker;
        this.dataToken = dataToken;
    }
}
