/** Brings requests and answers on sockets through the plugins' pipeline (plugins.md 4). */
package org.nemorelay.worker.internal.plugins;
