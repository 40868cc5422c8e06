package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.spec.EdECPrivateKeySpec;
import java.security.spec.NamedParameterSpec;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.protocol.control.Octets;
import org.nemorelay.protocol.control.Signatures;

/** The daemon's signatures are those of the JDK, and it takes nothing that the JDK refuses. */
class FastSignaturesTest {
    private static final BigInteger P = BigInteger.TWO.pow(255).subtract(BigInteger.valueOf(19));
    private static final BigInteger ORDER =
            BigInteger.TWO.pow(252).add(new BigInteger("27742317777372353535851937790883648493"));
    private static final BigInteger D = BigInteger.valueOf(-121_665)
            .multiply(BigInteger.valueOf(121_666).modInverse(P))
            .mod(P);
    private static final Point BASE = point(
            BigInteger.valueOf(4).multiply(BigInteger.valueOf(5).modInverse(P)).mod(P), false);
    private static final Point NEUTRAL = new Point(BigInteger.ZERO, BigInteger.ONE);

    private final FastSignatures fast = new FastSignatures();
    private final Random random = new Random(8032);

    /** A point of the curve, slow and simple. */
    private record Point(BigInteger x, BigInteger y) {
        Point plus(Point other) {
            BigInteger product = D.multiply(x)
                    .multiply(other.x)
                    .multiply(y)
                    .multiply(other.y)
                    .mod(P);
            BigInteger sumX = x.multiply(other.y).add(y.multiply(other.x));
            BigInteger sumY = y.multiply(other.y).add(x.multiply(other.x));
            return new Point(
                    sumX.multiply(BigInteger.ONE.add(product).modInverse(P)).mod(P),
                    sumY.multiply(BigInteger.ONE.subtract(product).modInverse(P))
                            .mod(P));
        }

        Point times(BigInteger scalar) {
            Point sum = NEUTRAL;
            for (int bit = scalar.bitLength() - 1; bit >= 0; bit--) {
                sum = sum.plus(sum);
                if (scalar.testBit(bit)) {
                    sum = sum.plus(this);
                }
            }
            return sum;
        }

        byte[] encoded() {
            byte[] bytes = littleEndian(y);
            bytes[31] |= (byte) (x.testBit(0) ? 0x80 : 0);
            return bytes;
        }
    }

    private static byte[] littleEndian(BigInteger value) {
        byte[] bytes = new byte[32];
        byte[] big = value.toByteArray();
        for (int i = 0; i < big.length && i < 32; i++) {
            bytes[i] = big[big.length - 1 - i];
        }
        return bytes;
    }

    /** The point with that y, if there is one; otherwise an {@link ArithmeticException}. */
    private static Point point(BigInteger y, boolean odd) {
        BigInteger square = y.multiply(y)
                .subtract(BigInteger.ONE)
                .multiply(D.multiply(y).multiply(y).add(BigInteger.ONE).modInverse(P))
                .mod(P);
        BigInteger root = square.modPow(P.add(BigInteger.valueOf(3)).shiftRight(3), P);
        if (!root.multiply(root).mod(P).equals(square)) {
            root = root.multiply(
                            BigInteger.TWO.modPow(P.subtract(BigInteger.ONE).shiftRight(2), P))
                    .mod(P);
        }
        if (!root.multiply(root).mod(P).equals(square)) {
            throw new ArithmeticException("no point");
        }
        return new Point(root.testBit(0) == odd ? root : P.subtract(root).mod(P), y);
    }

    /** A point of order eight. */
    private Point torsion() {
        while (true) {
            try {
                Point small = point(new BigInteger(254, random), false).times(ORDER);
                if (!small.times(BigInteger.valueOf(4)).equals(NEUTRAL)) {
                    return small;
                }
            } catch (ArithmeticException e) {
                // half of all numbers are no y
            }
        }
    }

    private static BigInteger challenge(byte[] commitment, byte[] key, byte[] message) throws GeneralSecurityException {
        MessageDigest digest = MessageDigest.getInstance("SHA-512");
        digest.update(commitment);
        digest.update(key);
        byte[] hash = digest.digest(message);
        byte[] big = new byte[hash.length];
        for (int i = 0; i < hash.length; i++) {
            big[i] = hash[hash.length - 1 - i];
        }
        return new BigInteger(1, big).mod(ORDER);
    }

    /** A signature by a signer who may add a point to what he publishes of his key and of his commitment. */
    private record Forged(byte[] key, byte[] message, byte[] signature) {
        static Forged of(BigInteger secret, Point keyPart, BigInteger nonce, Point commitmentPart, byte[] message)
                throws GeneralSecurityException {
            byte[] key = BASE.times(secret).plus(keyPart).encoded();
            byte[] commitment = BASE.times(nonce).plus(commitmentPart).encoded();
            BigInteger s = nonce.add(challenge(commitment, key, message).multiply(secret))
                    .mod(ORDER);
            return new Forged(key, message, join(commitment, littleEndian(s)));
        }

        boolean fast() {
            return new FastSignatures().verify(Octets.of(key), message, Octets.of(signature));
        }

        boolean jdk() {
            return Signatures.verify(Octets.of(key), message, Octets.of(signature));
        }
    }

    private static byte[] join(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    private BigInteger scalar() {
        return new BigInteger(252, random);
    }

    private static Octets hex(String text) {
        return Octets.of(HexFormat.of().parseHex(text));
    }

    private static PrivateKey privateKey(Octets seed) throws GeneralSecurityException {
        return KeyFactory.getInstance(Signatures.ALGORITHM)
                .generatePrivate(new EdECPrivateKeySpec(NamedParameterSpec.ED25519, seed.bytes()));
    }

    private static Octets publicKey(KeyPair pair) {
        byte[] x509 = pair.getPublic().getEncoded();
        return Octets.of(Arrays.copyOfRange(x509, x509.length - 32, x509.length));
    }

    @ParameterizedTest
    @CsvSource({
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60,"
                + "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a,"
                + "'',"
                + "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb,"
                + "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c,"
                + "72,"
                + "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7,"
                + "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025,"
                + "af82,"
                + "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
    })
    void theVectorsOfRfc8032(String seed, String key, String message, String signature) throws Exception {
        byte[] text = hex(message).bytes();
        assertEquals(hex(signature), fast.sign(privateKey(hex(seed)), hex(key), text));
        assertEquals(hex(signature), Signatures.sign(privateKey(hex(seed)), text));
        assertTrue(fast.verify(hex(key), text, hex(signature)));
        assertTrue(Signatures.verify(hex(key), text, hex(signature)));
    }

    @Test
    void bothMakeAndTakeTheSameSignatures() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(Signatures.ALGORITHM);
        for (int i = 0; i < 50; i++) {
            KeyPair pair = generator.generateKeyPair();
            byte[] message = new byte[random.nextInt(2_000)];
            random.nextBytes(message);
            Octets signature = fast.sign(pair.getPrivate(), publicKey(pair), message);
            assertEquals(Signatures.sign(pair.getPrivate(), message), signature);
            assertTrue(fast.verify(publicKey(pair), message, signature));
            assertTrue(Signatures.verify(publicKey(pair), message, signature));
        }
    }

    @Test
    void everyBitCounts() throws Exception {
        KeyPair pair = KeyPairGenerator.getInstance(Signatures.ALGORITHM).generateKeyPair();
        byte[] message = new byte[8];
        byte[] signature = Signatures.sign(pair.getPrivate(), message).bytes();
        for (int bit = 0; bit < 8 * signature.length; bit++) {
            assertFalse(fast.verify(publicKey(pair), message, flipped(signature, bit)), "bit " + bit);
        }
        for (int bit = 0; bit < 8 * 32; bit++) {
            Octets key = flipped(publicKey(pair).bytes(), bit);
            assertFalse(fast.verify(key, message, Octets.of(signature)), "bit " + bit + " of the key");
        }
        for (int bit = 0; bit < 8 * message.length; bit++) {
            byte[] changed = flipped(message, bit).bytes();
            assertFalse(fast.verify(publicKey(pair), changed, Octets.of(signature)), "bit " + bit + " of the message");
        }
    }

    private static Octets flipped(byte[] bytes, int bit) {
        byte[] changed = bytes.clone();
        changed[bit / 8] ^= (byte) (1 << bit % 8);
        return Octets.of(changed);
    }

    @Test
    void otherLengthsAreNotValid() throws Exception {
        KeyPair pair = KeyPairGenerator.getInstance(Signatures.ALGORITHM).generateKeyPair();
        byte[] message = {1};
        byte[] signature = Signatures.sign(pair.getPrivate(), message).bytes();
        for (int length : new int[] {0, 32, 63, 65, 128}) {
            assertFalse(fast.verify(publicKey(pair), message, Octets.of(Arrays.copyOf(signature, length))));
        }
        for (int length : new int[] {0, 31, 33}) {
            Octets key = Octets.of(Arrays.copyOf(publicKey(pair).bytes(), length));
            assertFalse(fast.verify(key, message, Octets.of(signature)));
        }
    }

    /** S and S plus the order satisfy the same equation; only the smaller one is a signature. */
    @Test
    void aScalarThatIsNotReducedIsRefused() throws Exception {
        Forged honest = Forged.of(scalar(), NEUTRAL, scalar(), NEUTRAL, new byte[] {7});
        assertTrue(honest.fast());
        assertTrue(honest.jdk());
        byte[] big = new byte[32];
        for (int i = 0; i < 32; i++) {
            big[i] = honest.signature()[63 - i];
        }
        byte[] larger = littleEndian(new BigInteger(1, big).add(ORDER));
        Forged forged = new Forged(honest.key(), honest.message(), join(Arrays.copyOf(honest.signature(), 32), larger));
        assertFalse(forged.fast());
        assertFalse(forged.jdk());
    }

    /** With a key of small order one signature fits every eighth message at least: nobody proves anything by it. */
    @Test
    void keysAndCommitmentsOfSmallOrderAreRefused() throws Exception {
        Point torsion = torsion();
        for (int i = 0; i < 8; i++) {
            Point small = torsion.times(BigInteger.valueOf(i));
            for (int j = 0; j < 8; j++) {
                Point commitment = torsion.times(BigInteger.valueOf(j));
                Forged forged = Forged.of(BigInteger.ZERO, small, BigInteger.ZERO, commitment, new byte[] {(byte) i});
                assertFalse(forged.fast(), i + " " + j);
            }
            assertFalse(Forged.of(BigInteger.ZERO, small, scalar(), NEUTRAL, new byte[] {1})
                    .fast());
            assertFalse(Forged.of(scalar(), NEUTRAL, BigInteger.ZERO, small, new byte[] {1})
                    .fast());
        }
    }

    /** Such a signature is valid for those who multiply the equation by eight; the JDK does not, nor does the daemon. */
    @Test
    void aPartOfSmallOrderIsRefused() throws Exception {
        Point torsion = torsion();
        BigInteger secret = scalar();
        int taken = 0;
        for (int i = 0; i < 32; i++) {
            byte[] message = {(byte) i};
            Point part = torsion.times(BigInteger.valueOf(1 + i % 7));
            Forged commitment = Forged.of(secret, NEUTRAL, scalar(), part, message);
            assertFalse(commitment.jdk(), "commitment " + i);
            assertFalse(commitment.fast(), "commitment " + i);
            Forged key = Forged.of(secret, part, scalar(), NEUTRAL, message);
            taken += key.jdk() ? 1 : 0;
            assertFalse(key.fast(), "key " + i);
        }
        assertTrue(taken > 0, "the JDK takes those in which the part happens to vanish");
    }

    /** The same point spelled with a y from the prime upwards. */
    @Test
    void otherSpellingsOfAPointAreRefused() throws Exception {
        for (int low = 0; low < 19; low++) {
            for (boolean odd : new boolean[] {false, true}) {
                byte[] spelled = littleEndian(P.add(BigInteger.valueOf(low)));
                spelled[31] |= (byte) (odd ? 0x80 : 0);
                Forged key = new Forged(spelled, new byte[] {1}, join(NEUTRAL.encoded(), new byte[32]));
                assertFalse(key.fast());
                assertFalse(key.jdk());
                Forged commitment = new Forged(
                        BASE.times(scalar()).encoded(), new byte[] {1}, join(spelled, littleEndian(scalar())));
                assertFalse(commitment.fast());
                assertFalse(commitment.jdk());
            }
        }
    }
}
