package org.nemorelay.workerctl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.nemorelay.json.JsonException;

/** Pins bytes, not round trips: a round trip still passes after a field was renamed on both sides at once. */
class WireFormatTest {
    private static Arguments row(WireRecord value, Function<byte[], ? extends WireRecord> decode, String json) {
        return Arguments.of(value, decode, json);
    }

    static Stream<Arguments> rows() {
        return Stream.of(
                row(
                        new BackendInstallRequest("b", "m", "g", "u", "n", "a", 2, true, "op", "o1", 3_600_000),
                        BackendInstallRequest::decode,
                        "{\"backend\":\"b\",\"model_id\":\"m\",\"backend_galleries\":\"g\",\"uri\":\"u\",\"name\":\"n\",\"alias\":\"a\",\"replica_index\":2,\"force\":true,\"op_id\":\"op\",\"operation_id\":\"o1\",\"deadline_ms\":3600000}"),
                row(BackendInstallRequest.of("", "", 0), BackendInstallRequest::decode, "{\"backend\":\"\"}"),
                row(
                        new BackendInstallReply(true, "h:1", "e", "p", true),
                        BackendInstallReply::decode,
                        "{\"success\":true,\"address\":\"h:1\",\"error\":\"e\",\"process_instance\":\"p\",\"reports_operations\":true}"),
                row(BackendInstallReply.refused(""), BackendInstallReply::decode, "{\"success\":false}"),
                row(
                        new BackendUpgradeRequest("b", "g", "u", "n", "a", 2, "op"),
                        BackendUpgradeRequest::decode,
                        "{\"backend\":\"b\",\"backend_galleries\":\"g\",\"uri\":\"u\",\"name\":\"n\",\"alias\":\"a\",\"replica_index\":2,\"op_id\":\"op\"}"),
                row(
                        new BackendUpgradeRequest("", "", "", "", "", 0, ""),
                        BackendUpgradeRequest::decode,
                        "{\"backend\":\"\"}"),
                row(
                        new BackendUpgradeReply(true, "e", List.of("k#0"), true),
                        BackendUpgradeReply::decode,
                        "{\"success\":true,\"error\":\"e\",\"stopped_process_keys\":[\"k#0\"],\"reports_stopped_processes\":true}"),
                row(BackendUpgradeReply.refused(""), BackendUpgradeReply::decode, "{\"success\":false}"),
                row(new NoArguments(), NoArguments::decode, "{}"),
                row(
                        new BackendListReply(
                                List.of(new NodeBackendInfo("n", true, true, "t", "gu", "v", "u", "d")), "e"),
                        BackendListReply::decode,
                        "{\"backends\":[{\"name\":\"n\",\"is_system\":true,\"is_meta\":true,\"installed_at\":\"t\",\"gallery_url\":\"gu\",\"version\":\"v\",\"uri\":\"u\",\"digest\":\"d\"}],\"error\":\"e\"}"),
                row(new BackendListReply(List.of(), ""), BackendListReply::decode, "{\"backends\":null}"),
                row(
                        new NodeBackendInfo("", false, false, "", "", "", "", ""),
                        NodeBackendInfo::decode,
                        "{\"name\":\"\",\"is_system\":false,\"is_meta\":false}"),
                row(
                        new BackendStopRequest("b", true),
                        BackendStopRequest::decode,
                        "{\"backend\":\"b\",\"force\":true}"),
                row(new BackendStopRequest("", false), BackendStopRequest::decode, "{\"backend\":\"\"}"),
                row(
                        new BackendStopReply(true, "e", List.of("k#0"), true),
                        BackendStopReply::decode,
                        "{\"success\":true,\"error\":\"e\",\"stopped_process_keys\":[\"k#0\"],\"reports_stopped_processes\":true}"),
                row(new BackendStopReply(false, "", List.of(), false), BackendStopReply::decode, "{\"success\":false}"),
                row(
                        new ModelStopRequest("m", "k", "a", true, "r", "o", "p"),
                        ModelStopRequest::decode,
                        "{\"model_name\":\"m\",\"process_key\":\"k\",\"expected_address\":\"a\",\"force\":true,\"config_revision\":\"r\",\"operation_id\":\"o\",\"process_instance\":\"p\"}"),
                row(
                        new ModelStopRequest("", "", "", false, "", "", ""),
                        ModelStopRequest::decode,
                        "{\"model_name\":\"\",\"process_key\":\"\",\"expected_address\":\"\"}"),
                row(
                        new ModelStopReply(true, true, true, "k", "a", "e"),
                        ModelStopReply::decode,
                        "{\"matched\":true,\"freed\":true,\"terminated\":true,\"process_key\":\"k\",\"address\":\"a\",\"error\":\"e\"}"),
                row(
                        ModelStopReply.refused(""),
                        ModelStopReply::decode,
                        "{\"matched\":false,\"freed\":false,\"terminated\":false,\"process_key\":\"\"}"),
                row(new BackendDeleteRequest("b"), BackendDeleteRequest::decode, "{\"backend\":\"b\"}"),
                row(
                        new BackendDeleteReply(true, "e", List.of("k#0"), true),
                        BackendDeleteReply::decode,
                        "{\"success\":true,\"error\":\"e\",\"stopped_process_keys\":[\"k#0\"],\"reports_stopped_processes\":true}"),
                row(BackendDeleteReply.refused(""), BackendDeleteReply::decode, "{\"success\":false}"),
                row(
                        new ModelUnloadRequest("m", "a", "p"),
                        ModelUnloadRequest::decode,
                        "{\"model_name\":\"m\",\"address\":\"a\",\"process_instance\":\"p\"}"),
                row(new ModelUnloadRequest("", "", ""), ModelUnloadRequest::decode, "{\"model_name\":\"\"}"),
                row(new ModelUnloadReply(true, "e"), ModelUnloadReply::decode, "{\"success\":true,\"error\":\"e\"}"),
                row(ModelUnloadReply.refused(""), ModelUnloadReply::decode, "{\"success\":false}"),
                row(new ModelDeleteRequest("m"), ModelDeleteRequest::decode, "{\"model_name\":\"m\"}"),
                row(new ModelDeleteReply(true, "e"), ModelDeleteReply::decode, "{\"success\":true,\"error\":\"e\"}"),
                row(ModelDeleteReply.refused(""), ModelDeleteReply::decode, "{\"success\":false}"),
                row(
                        new ModelsRunningReply(List.of(new RunningModelInfo("m", 1, "a", "o", "p")), "e", true),
                        ModelsRunningReply::decode,
                        "{\"models\":[{\"model_id\":\"m\",\"replica_index\":1,\"address\":\"a\",\"operation_id\":\"o\",\"process_instance\":\"p\"}],\"error\":\"e\",\"reports_operations\":true}"),
                row(new ModelsRunningReply(List.of(), "", false), ModelsRunningReply::decode, "{\"models\":[]}"),
                row(
                        new RunningModelInfo("", 0, "", "", ""),
                        RunningModelInfo::decode,
                        "{\"model_id\":\"\",\"replica_index\":0}"),
                row(
                        new OperationRequest(List.of("a"), List.of("b", "c")),
                        OperationRequest::decode,
                        "{\"renew\":[\"a\"],\"complete\":[\"b\",\"c\"]}"),
                row(new OperationRequest(List.of(), List.of()), OperationRequest::decode, "{}"),
                row(
                        new OperationReply(List.of("a"), List.of("b"), List.of("c")),
                        OperationReply::decode,
                        "{\"renewed\":[\"a\"],\"completed\":[\"b\"],\"unknown\":[\"c\"]}"),
                row(new OperationReply(List.of(), List.of(), List.of()), OperationReply::decode, "{}"),
                row(new FileEnsureRequest("k"), FileEnsureRequest::decode, "{\"key\":\"k\"}"),
                row(new FileEnsureReply("x", ""), FileEnsureReply::decode, "{\"local_path\":\"x\"}"),
                row(FileEnsureReply.refused("e"), FileEnsureReply::decode, "{\"error\":\"e\"}"),
                row(new FileStageRequest("p", "k"), FileStageRequest::decode, "{\"local_path\":\"p\",\"key\":\"k\"}"),
                row(new FileStageReply("x", ""), FileStageReply::decode, "{\"key\":\"x\"}"),
                row(FileStageReply.refused("e"), FileStageReply::decode, "{\"error\":\"e\"}"),
                row(new FileTempReply("x", ""), FileTempReply::decode, "{\"local_path\":\"x\"}"),
                row(FileTempReply.refused("e"), FileTempReply::decode, "{\"error\":\"e\"}"),
                row(new FileListDirRequest("p/"), FileListDirRequest::decode, "{\"key_prefix\":\"p/\"}"),
                row(new FileListDirReply(List.of("a"), ""), FileListDirReply::decode, "{\"files\":[\"a\"]}"),
                row(new FileListDirReply(List.of(), ""), FileListDirReply::decode, "{}"),
                row(FileListDirReply.refused("e"), FileListDirReply::decode, "{\"error\":\"e\"}"),
                row(new FileReleaseRequest("k", ""), FileReleaseRequest::decode, "{\"key\":\"k\"}"),
                row(new FileReleaseRequest("", "r"), FileReleaseRequest::decode, "{\"request_id\":\"r\"}"),
                row(new FileReleaseReply(""), FileReleaseReply::decode, "{}"),
                row(FileReleaseReply.refused("e"), FileReleaseReply::decode, "{\"error\":\"e\"}"),
                row(
                        new BackendInstallProgressEvent("op", "n", "b", "f", "1 MB", "2 MB", 19.6, "downloading"),
                        BackendInstallProgressEvent::decode,
                        "{\"op_id\":\"op\",\"node_id\":\"n\",\"backend\":\"b\",\"file_name\":\"f\",\"current\":\"1 MB\",\"total\":\"2 MB\",\"percentage\":19.6,\"phase\":\"downloading\"}"),
                row(
                        new BackendInstallProgressEvent("", "", "", "", "", "", 0, ""),
                        BackendInstallProgressEvent::decode,
                        "{\"op_id\":\"\",\"node_id\":\"\",\"backend\":\"\",\"percentage\":0}"),
                row(
                        new McpToolRequest("m", "t", Map.of("a", 1L), Map.of("r", true), Map.of()),
                        McpToolRequest::decode,
                        "{\"model_name\":\"m\",\"tool_name\":\"t\",\"arguments\":{\"a\":1},\"remote_servers\":{\"r\":true},\"stdio_servers\":{}}"),
                row(
                        new McpToolRequest("", "", Map.of(), Map.of(), Map.of()),
                        McpToolRequest::decode,
                        "{\"model_name\":\"\",\"tool_name\":\"\",\"remote_servers\":{},\"stdio_servers\":{}}"),
                row(new McpToolResponse("r", "e"), McpToolResponse::decode, "{\"result\":\"r\",\"error\":\"e\"}"),
                row(new McpToolResponse("", ""), McpToolResponse::decode, "{}"),
                row(
                        new McpDiscoveryRequest("m", Map.of(), Map.of("s", "x")),
                        McpDiscoveryRequest::decode,
                        "{\"model_name\":\"m\",\"remote_servers\":{},\"stdio_servers\":{\"s\":\"x\"}}"),
                row(
                        new McpDiscoveryResponse(
                                List.of(new McpServerInfo(
                                        "n", "remote", List.of("t"), List.of("p"), List.of("r"), "e")),
                                List.of(new McpToolDef("n", "t", Map.of("name", "t"))),
                                "e"),
                        McpDiscoveryResponse::decode,
                        "{\"servers\":[{\"name\":\"n\",\"type\":\"remote\",\"tools\":[\"t\"],\"prompts\":[\"p\"],\"resources\":[\"r\"],\"error\":\"e\"}],\"tools\":[{\"server_name\":\"n\",\"tool_name\":\"t\",\"function\":{\"name\":\"t\"}}],\"error\":\"e\"}"),
                row(McpDiscoveryResponse.refused(""), McpDiscoveryResponse::decode, "{}"),
                row(
                        new McpServerInfo("", "", List.of(), List.of(), List.of(), ""),
                        McpServerInfo::decode,
                        "{\"name\":\"\",\"type\":\"\",\"tools\":[]}"));
    }

    @ParameterizedTest(name = "{2}")
    @MethodSource("rows")
    void hasExactlyTheseBytesAndReadsThemBack(
            WireRecord value, Function<byte[], ? extends WireRecord> decode, String json) {
        assertEquals(json, new String(value.encode(), StandardCharsets.UTF_8));
        assertEquals(value, decode.apply(bytes(json)));
    }

    @Test
    void ignoresWhatANewerPeerAddsAndTakesMissingOrNullAsEmpty() {
        assertEquals(
                BackendInstallRequest.of("b", "", 0),
                BackendInstallRequest.decode(bytes("{\"backend\":\"b\",\"model_id\":null,\"invented\":{\"x\":1}}")));
        assertEquals(
                new ModelsRunningReply(List.of(), "", false), ModelsRunningReply.decode(bytes("{\"models\":null}")));
        assertEquals(new BackendListReply(List.of(), ""), BackendListReply.decode(bytes("{}")));
    }

    @Test
    void refusesAWrongTypeAndNamesTheKey() {
        JsonException wrong =
                assertThrows(JsonException.class, () -> BackendInstallRequest.decode(bytes("{\"backend\":1}")));
        assertTrue(wrong.getMessage().startsWith("backend "), wrong.getMessage());
        assertThrows(JsonException.class, () -> OperationRequest.decode(bytes("{\"renew\":[1]}")));
        assertThrows(JsonException.class, () -> BackendStopRequest.decode(new byte[0]));
    }

    @Test
    void anEmptyBodyOfBackendStopStopsEverything() {
        assertEquals(new BackendStopRequest("", false), BackendStopRequest.decodeOrAll(new byte[0]));
        assertEquals(new BackendStopRequest("b", false), BackendStopRequest.decodeOrAll(bytes("{\"backend\":\"b\"}")));
    }

    @Test
    void anUpgradeBecomesAForcedInstallWithAllItsInputs() {
        assertEquals(
                new BackendInstallRequest("b", "", "g", "u", "n", "a", 2, true, "op", "", 0),
                new BackendUpgradeRequest("b", "g", "u", "n", "a", 2, "op").asForcedInstall());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
