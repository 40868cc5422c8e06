package org.nemorelay.seams;

import java.util.Map;

/**
 * The closed grammar of subjects (distributed-seams 2.2, 2.3) and a constructor for each. Constructors replace what would
 * break a token by {@code -}. A new root is one entry here and one row in {@code SubjectsTest}, never something in a carrier.
 */
public final class Subjects {
    /** Roots of fan-out and queues, with what they carry. */
    public static final Map<String, String> BROADCAST_ROOTS = Map.of(
            "jobs", "job queues, progress, results, cancels",
            "agent", "agent run queue, events, cancels",
            "gallery", "download progress and cancels, operation list",
            "cache", "invalidations",
            "staging", "file staging progress",
            "prefixcache", "routing affinity",
            "responses", "response cancels",
            "state", "synced map deltas",
            "finetune", "fine-tune progress and cancels");

    /** Roots of request and reply. */
    public static final Map<String, String> CONTROL_ROOTS =
            Map.of("nodes", "control verbs of one node", "mcp", "agent calls");

    private Subjects() {}

    /**
     * Lets through what a carrier serves, to publish, request or subscribe.
     *
     * @throws UnservedSubjectException for an empty token or a root of neither set
     * @throws UnsupportedWildcardException for any {@code >}, a {@code *} beside other characters, or one as the root
     */
    public static void validate(String subject) {
        if (subject.indexOf('>') >= 0) {
            throw new UnsupportedWildcardException("subject \"" + subject + "\": the wildcard > is not supported");
        }
        int start = 0;
        for (int i = 0; i <= subject.length(); i++) {
            if (i < subject.length() && subject.charAt(i) != '.') {
                continue;
            }
            if (i == start) {
                throw new UnservedSubjectException("subject \"" + subject + "\" has an empty token");
            }
            int star = subject.indexOf('*', start);
            if (star >= 0 && star < i && (i - start > 1 || start == 0)) {
                throw new UnsupportedWildcardException(
                        "subject \"" + subject + "\": * must be a whole token after the root");
            }
            start = i + 1;
        }
        int dot = subject.indexOf('.');
        String root = dot < 0 ? subject : subject.substring(0, dot);
        if (!BROADCAST_ROOTS.containsKey(root) && !CONTROL_ROOTS.containsKey(root)) {
            throw new UnservedSubjectException("subject \"" + subject + "\": no carrier serves the root " + root);
        }
    }

    /** Whether a valid {@code pattern} covers a valid {@code subject}. */
    public static boolean matches(String pattern, String subject) {
        int p = 0;
        int s = 0;
        while (p < pattern.length() && s < subject.length()) {
            int pEnd = end(pattern, p);
            int sEnd = end(subject, s);
            boolean any = pEnd - p == 1 && pattern.charAt(p) == '*';
            if (!any && (pEnd - p != sEnd - s || !pattern.regionMatches(p, subject, s, pEnd - p))) {
                return false;
            }
            p = pEnd + 1;
            s = sEnd + 1;
        }
        return p >= pattern.length() && s >= subject.length();
    }

    private static int end(String subject, int from) {
        int dot = subject.indexOf('.', from);
        return dot < 0 ? subject.length() : dot;
    }

    /** The token as a constructor inserts it: {@code . * >} and white space become {@code -}. */
    public static String token(String text) {
        StringBuilder clean = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            clean.append(
                    switch (c) {
                        case '.', '*', '>', ' ', '\t', '\n', '\r' -> '-';
                        default -> c;
                    });
        }
        return clean.toString();
    }

    public static String jobsNew() {
        return "jobs.new";
    }

    public static String jobsMcpCiNew() {
        return "jobs.mcp-ci.new";
    }

    public static String jobProgress(String jobId) {
        return "jobs." + token(jobId) + ".progress";
    }

    public static String jobResult(String jobId) {
        return "jobs." + token(jobId) + ".result";
    }

    public static String jobCancel(String jobId) {
        return "jobs." + token(jobId) + ".cancel";
    }

    public static String agentExecute() {
        return "agent.execute";
    }

    /** An empty user is {@code anonymous}. */
    public static String agentEvents(String agent, String user) {
        return "agent." + token(agent) + ".events." + (user.isEmpty() ? "anonymous" : token(user));
    }

    public static String agentCancel(String agent) {
        return "agent." + token(agent) + ".cancel";
    }

    public static String galleryProgress(String operation) {
        return "gallery." + token(operation) + ".progress";
    }

    public static String galleryCancel(String operation) {
        return "gallery." + token(operation) + ".cancel";
    }

    public static String galleryOperationStart() {
        return "gallery.opcache.start";
    }

    public static String galleryOperationEnd() {
        return "gallery.opcache.end";
    }

    public static String cacheInvalidateSkills() {
        return "cache.invalidate.skills";
    }

    public static String cacheInvalidateModels() {
        return "cache.invalidate.models";
    }

    public static String cacheInvalidateBackends() {
        return "cache.invalidate.backends";
    }

    public static String cacheInvalidateCollection(String name) {
        return "cache.invalidate.collections." + token(name);
    }

    public static String stagingProgress(String model) {
        return "staging." + token(model) + ".progress";
    }

    public static String prefixCacheObserve() {
        return "prefixcache.observe";
    }

    public static String prefixCacheInvalidate() {
        return "prefixcache.invalidate";
    }

    public static String prefixCachePressure() {
        return "prefixcache.pressure";
    }

    public static String prefixCacheResidency() {
        return "prefixcache.residency";
    }

    public static String responseCancel(String id) {
        return "responses." + token(id) + ".cancel";
    }

    public static String stateDelta(String name) {
        return "state." + token(name) + ".delta";
    }

    public static String fineTuneProgress(String id) {
        return "finetune." + token(id) + ".progress";
    }

    public static String fineTuneCancel(String id) {
        return "finetune." + token(id) + ".cancel";
    }

    /** A control verb of a node; {@code verb} is the part after the node id, such as {@code backend.install}. */
    public static String node(String nodeId, String verb) {
        return "nodes." + token(nodeId) + "." + verb;
    }

    public static String installProgress(String nodeId, String opId) {
        return "nodes." + token(nodeId) + ".backend.install." + token(opId) + ".progress";
    }

    public static String mcpToolsExecute() {
        return "mcp.tools.execute";
    }

    public static String mcpDiscovery() {
        return "mcp.discovery";
    }
}
