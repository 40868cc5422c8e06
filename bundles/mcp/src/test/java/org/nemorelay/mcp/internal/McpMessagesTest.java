package org.nemorelay.mcp.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.protocol.Version;

/** The answers of the stock binary, byte for byte but for the version. */
class McpMessagesTest {
    private final McpMessages messages = new McpMessages();

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{'jsonrpc':'2.0','id':1,'method':'ping'}|{'id':1,'jsonrpc':'2.0','result':{}}",
                "{'jsonrpc':'2.0','id':9,'method':'ping','params':[]}|{'id':9,'jsonrpc':'2.0','result':{}}",
                "{'jsonrpc':'2.0','id':2,'method':'tools/list'}|{'id':2,'jsonrpc':'2.0','result':{'tools':[]}}",
                "{'jsonrpc':'2.0','id':4,'method':'resources/list'}|{'error':{'code':-32601,'message':'Method not found'},'id':4,'jsonrpc':'2.0'}",
                "{'jsonrpc':'2.0','id':'x','method':'tools/call','params':{}}|{'error':{'code':-32601,'message':'Method not found'},'id':'x','jsonrpc':'2.0'}",
                "{'jsonrpc':'2.0','id':'server-discover-probe-1','method':'server/discover'}|{'error':{'code':-32601,'message':'Method not found'},'id':'server-discover-probe-1','jsonrpc':'2.0'}",
                "{nope|{'error':{'code':-32700,'message':'Parse error'},'id':null,'jsonrpc':'2.0'}",
                "~~|{'error':{'code':-32700,'message':'Parse error'},'id':null,'jsonrpc':'2.0'}",
                "[]|{'error':{'code':-32600,'message':'Invalid Request'},'id':null,'jsonrpc':'2.0'}",
                "5|{'error':{'code':-32600,'message':'Invalid Request'},'id':null,'jsonrpc':'2.0'}",
                "{'jsonrpc':'1.0','id':6,'method':'ping'}|{'error':{'code':-32600,'message':'Invalid Request'},'id':6,'jsonrpc':'2.0'}",
                "{'id':7,'method':'ping'}|{'error':{'code':-32600,'message':'Invalid Request'},'id':7,'jsonrpc':'2.0'}",
                "{'jsonrpc':'2.0','id':null,'method':'ping'}|{'error':{'code':-32600,'message':'Invalid Request'},'id':null,'jsonrpc':'2.0'}",
                "{'jsonrpc':'2.0','id':1.5,'method':'ping'}|{'error':{'code':-32600,'message':'Invalid Request'},'id':null,'jsonrpc':'2.0'}",
                "{'jsonrpc':'2.0','id':{},'method':'ping'}|{'error':{'code':-32600,'message':'Invalid Request'},'id':null,'jsonrpc':'2.0'}",
                "{'jsonrpc':'2.0','id':8,'result':{}}|{'error':{'code':-32600,'message':'Invalid Request'},'id':8,'jsonrpc':'2.0'}",
                "{'jsonrpc':'2.0','id':0,'method':'initialize','params':{'protocolVersion':5}}|{'error':{'code':-32602,'message':'Missing protocolVersion'},'id':0,'jsonrpc':'2.0'}",
            })
    void answeredAtOnce(String request, String answer) {
        McpMessages.Answer given = messages.answer(json(request));
        assertEquals(json(answer), given.text().orElseThrow());
        assertFalse(given.waits());
    }

    @ParameterizedTest
    @CsvSource({
        "2025-11-25, 2025-11-25",
        "2025-06-18, 2025-06-18",
        "2024-11-05, 2025-11-25",
        "2026-07-28, 2025-11-25",
    })
    void initializeNegotiatesTheVersion(String asked, String given) {
        McpMessages.Answer answer = messages.answer(json(
                "{'jsonrpc':'2.0','id':'abc','method':'initialize','params':{'protocolVersion':'" + asked + "'}}"));
        assertEquals(
                json("{'id':'abc','jsonrpc':'2.0','result':{'capabilities':{},'protocolVersion':'" + given
                        + "','serverInfo':{'name':'nemo-relay','version':'" + Version.text() + "'}}}"),
                answer.text().orElseThrow());
        assertTrue(answer.waits());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'jsonrpc':'2.0','method':'notifications/initialized'}",
                "{'jsonrpc':'2.0','method':'notifications/roots/list_changed'}",
                "{'jsonrpc':'2.0','method':'nope'}",
                "{'jsonrpc':'2.0','method':'notifications/cancelled','params':5}",
                "{'jsonrpc':'2.0','method':5}",
                "{'jsonrpc':'1.0','method':'notifications/initialized'}",
                "{'method':'notifications/initialized'}"
            })
    void notificationsAreNeverAnswered(String notification) {
        assertTrue(messages.answer(json(notification)).text().isEmpty());
    }

    @Test
    void whatFollowsInitializeWaitsWithIt() {
        String list = json("{'jsonrpc':'2.0','id':1,'method':'tools/list'}");
        assertFalse(messages.answer(list).waits());
        messages.answer(
                json("{'jsonrpc':'2.0','id':0,'method':'initialize','params':{'protocolVersion':'2025-11-25'}}"));
        assertTrue(messages.answer(list).waits());
        assertFalse(messages.answer(json("{'jsonrpc':'2.0','id':2,'method':'ping'}"))
                .waits());
    }

    private static String json(String quoted) {
        return quoted.replace('\'', '"');
    }
}
