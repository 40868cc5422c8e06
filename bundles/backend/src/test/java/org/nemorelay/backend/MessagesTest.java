package org.nemorelay.backend;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class MessagesTest {
    @Test
    void anInferenceKeepsItsFields() {
        PredictOptions sent = new PredictOptions(
                "p",
                List.of(ChatMessage.of("user", "grüß"), new ChatMessage("tool", "", "n", "id", "[]")),
                7,
                300,
                0.5f,
                0.25f,
                List.of("a", "b"),
                true,
                "c",
                "[]",
                "auto",
                "m");
        assertEquals(sent, PredictOptions.decode(sent.encode()));
    }

    /** What protoc's own encoders write for these fields. */
    @Test
    void bytesAreThoseOfTheService() {
        PredictOptions sent = new PredictOptions(
                "Hi", List.of(ChatMessage.of("user", "x")), 0, 5, 1f, 0, List.of(), true, "", "", "", "");
        assertEquals(
                "0a024869" + "2005" + "4d0000803f" + "d80201" + "e20209" + "0a0475736572" + "120178",
                HexFormat.of().formatHex(sent.encode()));
        assertEquals("0a024f4b", HexFormat.of().formatHex(Reply.of("OK", 0, 0).encode()));
        assertEquals("1001", HexFormat.of().formatHex(new Result("", true).encode()));
    }

    @Test
    void fieldsThatAreNotKnownAreSkipped() {
        byte[] reply = HexFormat.of().parseHex("0a0141" + "21" + "0000000000000840" + "1003" + "3a0131" + "9a010158");
        Reply read = Reply.decode(reply);
        assertArrayEquals("A".getBytes(StandardCharsets.UTF_8), read.message());
        assertEquals(3, read.tokens());
    }

    @Test
    void deltasAndToolCallsCome() {
        Reply sent = new Reply(
                new byte[0], 2, 1, List.of(new ChatDelta("c", "r", List.of(new ToolCall(1, "i", "n", "{}")))));
        assertEquals(sent.deltas(), Reply.decode(sent.encode()).deltas());
    }

    @Test
    void whatIsCutOffIsRefused() {
        for (String bytes : List.of("0a05", "0a", "80", "15", "00", "0b")) {
            byte[] message = HexFormat.of().parseHex(bytes);
            assertThrows(IllegalArgumentException.class, () -> Reply.decode(message), bytes);
        }
    }
}
