package org.nemorelay.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which {@code Connection} values can be obeyed. */
class HeaderRulesTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
                    ~~                     | true
                    ,                      | true
                    a,,b                   | true
                    keep-alive, x-hop      | true
                    !#$%&'*+-.^_`          | true
                    a b                    | false
                    a b c;;                | false
                    a;b                    | false
                    "x"                    | false
                    keep-alive, @          | false
                    \u00e9                 | false
                    """)
    void aConnectionHeaderIsAListOfTokens(String value, boolean readable) {
        assertEquals(readable, HeaderRules.connectionReadable(HttpFields.build().add(HttpHeader.CONNECTION, value)));
    }
}
