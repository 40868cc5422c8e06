package org.nemorelay.carrier.nats.internal;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** An operator, an account and a user, as nsc would make them. */
record Jwts(String serverSettings, String userCredentials) {
    static Jwts make() {
        Keys operator = Keys.operator();
        Keys account = Keys.account();
        Keys user = Keys.user();
        String operatorJwt = jwt(operator, operator, "{\"type\":\"operator\",\"version\":2}");
        String accountJwt = jwt(
                operator,
                account,
                "{\"type\":\"account\",\"version\":2,\"limits\":{\"subs\":-1,\"data\":-1,\"payload\":-1,\"imports\":-1,"
                        + "\"exports\":-1,\"wildcards\":true,\"conn\":-1,\"leaf\":-1}}");
        String userJwt = jwt(account, user, "{\"type\":\"user\",\"version\":2,\"subs\":-1,\"data\":-1,\"payload\":-1}");
        return new Jwts(
                "operator: " + operatorJwt + "\nresolver: MEMORY\nresolver_preload: { " + account.publicKey() + ": "
                        + accountJwt + " }\n",
                "-----BEGIN NATS USER JWT-----\n" + userJwt + "\n------END NATS USER JWT------\n\n"
                        + "************************* IMPORTANT *************************\n\n"
                        + "-----BEGIN USER NKEY SEED-----\n" + user.seed() + "\n------END USER NKEY SEED------\n");
    }

    private static String jwt(Keys issuer, Keys subject, String nats) {
        String signed = encoded("{\"typ\":\"JWT\",\"alg\":\"ed25519-nkey\"}") + "."
                + encoded("{\"jti\":\"" + subject.publicKey() + "\",\"iat\":1700000000,\"iss\":\"" + issuer.publicKey()
                        + "\",\"name\":\"test\",\"sub\":\"" + subject.publicKey() + "\",\"nats\":" + nats + "}");
        return signed + "."
                + Base64.getUrlEncoder()
                        .withoutPadding()
                        .encodeToString(issuer.sign(signed.getBytes(StandardCharsets.UTF_8)));
    }

    private static String encoded(String json) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(json.getBytes(StandardCharsets.UTF_8));
    }
}
