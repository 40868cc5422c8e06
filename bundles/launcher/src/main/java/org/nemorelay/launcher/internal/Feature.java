package org.nemorelay.launcher.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;

/**
 * The part of an OSGi feature (Compendium R8, 159) that a role needs: its bundles, in start order.
 *
 * @param id the feature's own Maven id
 * @param carriers names of the features whose bundles are files of the tree's {@code carriers/}, from the extension
 *     {@code carriers}; each comes and goes with its file
 */
public record Feature(String id, List<MavenId> bundles, List<String> carriers) {
    private static final String VERSION = "1.0";

    /** {@code group:artifact:version}, the form of ids in a feature. */
    public record MavenId(String group, String artifact, String version) {
        static MavenId parse(String text) {
            String[] parts = text.split(":", -1);
            if (parts.length != 3 || parts[0].isEmpty() || parts[1].isEmpty() || parts[2].isEmpty()) {
                throw new JsonException("\"" + text + "\" is not group:artifact:version");
            }
            return new MavenId(parts[0], parts[1], parts[2]);
        }

        String fileName() {
            return artifact + "-" + version + ".jar";
        }

        @Override
        public String toString() {
            return group + ":" + artifact + ":" + version;
        }
    }

    /** The same without the bundle of this artifact. */
    Feature without(String artifact) {
        return new Feature(
                id,
                bundles.stream()
                        .filter(bundle -> !bundle.artifact().equals(artifact))
                        .toList(),
                carriers);
    }

    static Feature read(Path file) {
        try {
            JsonObject json = Json.parseObject(Files.readAllBytes(file));
            String version = json.string("feature-resource-version");
            if (!version.equals(VERSION)) {
                throw new JsonException("feature-resource-version \"" + version + "\" is not \"" + VERSION + "\"");
            }
            List<MavenId> bundles = new ArrayList<>();
            for (JsonObject bundle : json.objects("bundles")) {
                bundles.add(MavenId.parse(bundle.string("id")));
            }
            List<String> carriers = new ArrayList<>();
            Optional<JsonObject> extension =
                    json.optionalObject("extensions").flatMap(extensions -> extensions.optionalObject("carriers"));
            if (extension.isPresent()) {
                carriers.addAll(extension.get().strings("text"));
            }
            return new Feature(
                    MavenId.parse(json.string("id")).toString(), List.copyOf(bundles), List.copyOf(carriers));
        } catch (JsonException e) {
            throw new RelayException(FailureKind.CONFIGURATION, "feature file " + file + ": " + e.getMessage(), e);
        } catch (NoSuchFileException e) {
            throw new RelayException(
                    FailureKind.CONFIGURATION, "feature file " + file + " is missing: install again", e);
        } catch (IOException e) {
            throw new RelayException(
                    FailureKind.CONFIGURATION, "feature file " + file + " cannot be read: " + Reasons.of(e), e);
        }
    }
}
