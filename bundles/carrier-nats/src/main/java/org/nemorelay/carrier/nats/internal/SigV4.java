package org.nemorelay.carrier.nats.internal;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Amazon's signature version 4 for S3, in the {@code Authorization} header. */
record SigV4(String accessKey, String secretKey, String region) {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

    /**
     * The headers that sign a request.
     *
     * @param path as sent, percent-encoded
     * @param query names and values, not yet encoded
     * @param bodyHash SHA-256 of the body in hexadecimal digits
     */
    Map<String, String> sign(
            String method, String host, String path, Map<String, String> query, String bodyHash, Instant now) {
        String time = TIME.format(now);
        String scope = time.substring(0, 8) + "/" + region + "/s3/aws4_request";
        String request = method + "\n" + path + "\n" + query(query) + "\nhost:" + host + "\nx-amz-content-sha256:"
                + bodyHash + "\nx-amz-date:" + time + "\n\nhost;x-amz-content-sha256;x-amz-date\n" + bodyHash;
        String text = "AWS4-HMAC-SHA256\n" + time + "\n" + scope + "\n"
                + hex(sha256().digest(request.getBytes(StandardCharsets.UTF_8)));
        byte[] key = ("AWS4" + secretKey).getBytes(StandardCharsets.UTF_8);
        for (String part : scope.split("/")) {
            key = hmac(key, part);
        }
        return Map.of(
                "x-amz-date",
                time,
                "x-amz-content-sha256",
                bodyHash,
                "Authorization",
                "AWS4-HMAC-SHA256 Credential=" + accessKey + "/" + scope
                        + ",SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature=" + hex(hmac(key, text)));
    }

    /** The query as it is signed and sent: sorted, everything but unreserved characters encoded. */
    static String query(Map<String, String> query) {
        return new TreeMap<>(query)
                .entrySet().stream()
                        .map(entry -> encode(entry.getKey()) + "=" + encode(entry.getValue()))
                        .collect(Collectors.joining("&"));
    }

    /** Percent-encodes everything but unreserved characters; of a path, use it for each segment. */
    static String encode(String text) {
        StringBuilder encoded = new StringBuilder();
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xFF);
            if (c < 128 && (Character.isLetterOrDigit(c) || "-._~".indexOf(c) >= 0)) {
                encoded.append(c);
            } else {
                encoded.append('%').append(HexFormat.of().withUpperCase().toHexDigits(b));
            }
        }
        return encoded.toString();
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("SHA-256 is part of the JDK", e);
        }
    }

    static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    private static byte[] hmac(byte[] key, String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("HMAC-SHA256 is part of the JDK", e);
        }
    }

    @Override
    public String toString() {
        return "SigV4[" + accessKey + ", " + region + "]";
    }
}
