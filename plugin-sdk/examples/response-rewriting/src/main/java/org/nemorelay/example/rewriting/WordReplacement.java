package org.nemorelay.example.rewriting;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.ModelResponse;
import org.nemorelay.plugin.api.Part;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.PluginKind;
import org.nemorelay.plugin.api.StreamEvent;
import org.nemorelay.plugin.api.StreamHandler;
import org.nemorelay.plugin.api.StreamIntercept;
import org.nemorelay.plugin.api.StreamOutput;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/** Replaces a word in streamed answers, also where the provider cuts it in two. */
@PluginKind(
        value = "example_rewriting",
        config = {"word! string", "replacement! string"})
@Component(
        service = StreamIntercept.class,
        configurationPid = "example_rewriting",
        configurationPolicy = ConfigurationPolicy.REQUIRE)
public final class WordReplacement implements StreamIntercept {
    private final String word;
    private final String replacement;

    @Activate
    public WordReplacement(Map<String, Object> properties) {
        PluginConfig config = PluginConfig.of(properties).only("word", "replacement");
        word = config.string("word");
        replacement = config.string("replacement");
        if (word.isEmpty()) {
            throw config.failure("word", "must not be empty");
        }
    }

    @Override
    public StreamHandler open(ModelRequest request, ModelResponse.Streamed response) {
        return new Replacing();
    }

    /** Holds an event back only while its text ends with the beginning of the word. */
    private final class Replacing implements StreamHandler {
        private Optional<StreamEvent> held = Optional.empty();
        private String heldText = "";

        @Override
        public CompletionStage<Void> onEvent(StreamEvent event, StreamOutput out) {
            List<Part.Text> texts = event.texts();
            if (texts.size() != 1) {
                release(out);
                out.emit(replaced(event, texts));
                return DONE;
            }
            Part.Text part = texts.getFirst();
            // The text that was held moves into this event, the one that carried it is dropped.
            String text = (heldText + part.text()).replace(word, replacement);
            held = Optional.empty();
            heldText = "";
            StreamEvent changed = event.withText(part, text);
            if (endsWithBeginning(text)) {
                held = Optional.of(changed);
                heldText = text;
            } else {
                out.emit(changed);
            }
            return DONE;
        }

        @Override
        public CompletionStage<Void> onEnd(StreamOutput out) {
            release(out);
            return DONE;
        }

        private void release(StreamOutput out) {
            held.ifPresent(out::emit);
            held = Optional.empty();
            heldText = "";
        }

        /** Some events repeat whole texts. */
        private StreamEvent replaced(StreamEvent event, List<Part.Text> texts) {
            StreamEvent changed = event;
            for (Part.Text part : texts) {
                if (part.text().contains(word)) {
                    changed = changed.withText(part, part.text().replace(word, replacement));
                }
            }
            return changed;
        }

        private boolean endsWithBeginning(String text) {
            for (int length = Math.min(word.length() - 1, text.length()); length > 0; length--) {
                if (text.endsWith(word.substring(0, length))) {
                    return true;
                }
            }
            return false;
        }
    }
}
