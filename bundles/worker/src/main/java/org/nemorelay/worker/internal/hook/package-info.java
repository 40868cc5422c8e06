/** What a harness's hooks say, and what they are answered (plugins.md 5). */
package org.nemorelay.worker.internal.hook;
