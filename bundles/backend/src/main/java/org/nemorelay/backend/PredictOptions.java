package org.nemorelay.backend;

import java.util.ArrayList;
import java.util.List;
import org.nemorelay.backend.internal.ProtoReader;
import org.nemorelay.backend.internal.ProtoWriter;

/**
 * One inference. Numbers that are 0 leave the choice to the backend.
 *
 * @param prompt the text to go on with; empty where {@code messages} say it
 * @param tokens the most tokens to make
 * @param useTokenizerTemplate whether the backend makes the prompt from the messages
 * @param correlationId the request's id in logs
 * @param tools JSON text, as {@code toolChoice}
 * @param modelIdentity what the backend must have loaded; empty for whatever it has
 */
public record PredictOptions(
        String prompt,
        List<ChatMessage> messages,
        int seed,
        int tokens,
        float temperature,
        float topP,
        List<String> stop,
        boolean useTokenizerTemplate,
        String correlationId,
        String tools,
        String toolChoice,
        String modelIdentity) {
    public PredictOptions {
        messages = List.copyOf(messages);
        stop = List.copyOf(stop);
    }

    public byte[] encode() {
        ProtoWriter out = new ProtoWriter()
                .string(1, prompt)
                .integer(2, seed)
                .integer(4, tokens)
                .real(9, temperature);
        stop.forEach(text -> out.string(13, text));
        out.real(32, topP).bool(43, useTokenizerTemplate);
        messages.forEach(message -> out.message(44, message.encode()));
        return out.string(47, correlationId)
                .string(48, tools)
                .string(49, toolChoice)
                .string(54, modelIdentity)
                .done();
    }

    /** @throws IllegalArgumentException for what is no such message */
    public static PredictOptions decode(byte[] message) {
        String prompt = "";
        List<ChatMessage> messages = new ArrayList<>();
        int seed = 0;
        int tokens = 0;
        float temperature = 0;
        float topP = 0;
        List<String> stop = new ArrayList<>();
        boolean template = false;
        String correlationId = "";
        String tools = "";
        String toolChoice = "";
        String identity = "";
        ProtoReader in = new ProtoReader(message);
        for (int number = in.next(); number != 0; number = in.next()) {
            switch (number) {
                case 1 -> prompt = in.string();
                case 2 -> seed = (int) in.integer();
                case 4 -> tokens = (int) in.integer();
                case 9 -> temperature = in.real();
                case 13 -> stop.add(in.string());
                case 32 -> topP = in.real();
                case 43 -> template = in.integer() != 0;
                case 44 -> messages.add(ChatMessage.decode(in.bytes()));
                case 47 -> correlationId = in.string();
                case 48 -> tools = in.string();
                case 49 -> toolChoice = in.string();
                case 54 -> identity = in.string();
                default -> in.skip();
            }
        }
        return new PredictOptions(
                prompt,
                messages,
                seed,
                tokens,
                temperature,
                topP,
                stop,
                template,
                correlationId,
                tools,
                toolChoice,
                identity);
    }
}
