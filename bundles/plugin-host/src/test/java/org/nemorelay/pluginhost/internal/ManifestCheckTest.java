package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every header of a manifest that is wrong is told in words for who wrote it: which, what, and what to do. */
class ManifestCheckTest {
    private static final Set<String> ENTRIES = Set.of("OSGI-INF/x.xml", "lib/a.jar", "lib/x.so", "classes/a/B.class");

    private static Optional<String> refusal(String header, String value) {
        Map<String, String> headers = new LinkedHashMap<>(
                Map.of("Manifest-Version", "1.0", "Bundle-ManifestVersion", "2", "Bundle-SymbolicName", "a.b-c_d"));
        if (value == null) {
            headers.remove(header);
        } else {
            headers.put(header, value);
        }
        StringBuilder text = new StringBuilder();
        headers.forEach(
                (name, line) -> text.append(name).append(": ").append(line).append("\r\n"));
        try {
            return ManifestCheck.refusal(
                    ManifestHeaders.read(text.toString().getBytes(StandardCharsets.UTF_8)), ENTRIES);
        } catch (ManifestHeaders.Wrong e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\'', textBlock = """
            Bundle-ManifestVersion    |                                   | it is not there; a plugin's is 2, build it with bnd
            Bundle-ManifestVersion    | 1                                 | it is "1"; a plugin's is 2, build it with bnd
            Bundle-ManifestVersion    | two                               | it is "two"; a plugin's is 2, build it with bnd
            Bundle-SymbolicName       | ''                                | it is empty; correct it
            Bundle-SymbolicName       | a b                               | "a b" is not one name of at most 200 letters, digits, '_', '-' and dots between; write one
            Bundle-SymbolicName       | a,b                               | "a,b" is not one name of at most 200 letters, digits, '_', '-' and dots between; write one
            Bundle-Version            | 1.x                               | "1.x" is no version; write one such as 1.0.0
            Bundle-Version            | ''                                | "" is no version; write one such as 1.0.0
            Import-Package            | ''                                | it is empty; correct it
            Import-Package            | a,,                               | an entry is empty: ""; correct it
            Import-Package            | a b                               | "a b" is no name of a package; correct it
            Import-Package            | a;version="[1.0                   | a quotation mark is not closed in "a;version="[1.0"; correct it
            Import-Package            | a;version=[1.0,2)                 | "[1.0" of "a" is no range of versions; write one in quotation marks, such as "[1.0,2)"
            Import-Package            | a;version="[2,1]"                 | "[2,1]" of "a" is no range of versions; write one in quotation marks, such as "[1.0,2)"
            Import-Package            | a;version=abc                     | "abc" of "a" is no range of versions; write one in quotation marks, such as "[1.0,2)"
            Import-Package            | a;bundle-version=x                | "x" of "a" is no range of versions; write one in quotation marks, such as "[1.0,2)"
            Import-Package            | a;version=1;version=2             | "version" stands twice in "a;version=1;version=2"; correct it
            Import-Package            | a;version=1;specification-version=2 | version and specification-version of "a" differ; keep the first
            Import-Package            | a;resolution:=sometimes           | resolution of "a" is "sometimes"; write mandatory or optional
            Import-Package            | a,b,a                             | it has the package a twice; keep one
            Import-Package            | a;version=1;b                     | "b" has no value, in "a;version=1;b"; correct it
            Import-Package            | version=1                         | an entry does not begin with a name: "version=1"; correct it
            DynamicImport-Package     | a.*.b                             | "a.*.b" is no name of a package; correct it
            Export-Package            | ;                                 | an entry is empty: ";"; correct it
            Export-Package            | java.util                         | the package java.util is the Java platform's alone; leave it out
            Export-Package            | a;version=abc                     | "abc" is no version; write one such as 1.0.0
            Export-Package            | a;bundle-version=1                | bundle-version is of imports, not of exports; leave it out
            Require-Bundle            | a;bundle-version="[x"             | "[x" of "a" is no range of versions; write one in quotation marks, such as "[1.0,2)"
            Require-Bundle            | ;;                                | an entry is empty: ";;"; correct it
            Provide-Capability        | org.nemorelay.plugin              | org.nemorelay.plugin has no kind of at most 100 letters, digits, '.', '_' and '-'; annotate the component with @PluginKind
            Provide-Capability        | org.nemorelay.plugin;kind="a b"   | org.nemorelay.plugin has no kind of at most 100 letters, digits, '.', '_' and '-'; annotate the component with @PluginKind
            Provide-Capability        | org.nemorelay.plugin;kind:List=a  | org.nemorelay.plugin has no kind of at most 100 letters, digits, '.', '_' and '-'; annotate the component with @PluginKind
            Provide-Capability        | org.nemorelay.plugin;kind=a,org.nemorelay.plugin;kind=a | the kind "a" stands twice; keep one
            Provide-Capability        | a;n:Long=abc                      | the attribute "n" of "a" is "abc", which is no Long; correct it
            Provide-Capability        | a;n:List<Version>="1,q"           | the attribute "n" of "a" is "q", which is no Version; correct it
            Provide-Capability        | a;n:Foo=1                         | the attribute "n" of "a" has the type "Foo"; write String, Version, Long, Double or List of one of these
            Provide-Capability        | osgi.wiring.package;a=b           | osgi.wiring.package is the framework's to provide; leave it out
            Require-Capability        | a;filter:="(&(a=b)"               | "(&(a=b)" is no filter; write one such as (a=b)
            Require-Capability        | a;cardinality:=many               | cardinality of "a" is "many"; write multiple or single
            Bundle-NativeCode         | lib/none.so;osname=linux          | "lib/none.so" is not in the jar; build it again
            Bundle-ClassPath          | .,lib/none.jar                    | "lib/none.jar" is not in the jar; build it again
            Bundle-ClassPath          | .,../../etc/x.jar                 | "../../etc/x.jar" is not in the jar; build it again
            Service-Component         | OSGI-INF/x.xml,OSGI-INF/none.xml  | "OSGI-INF/none.xml" is not in the jar; build it again
            """)
    void aHeaderThatIsWrongIsNamed(String header, String value, String problem) {
        assertEquals(Optional.of("has a wrong " + header + " in its manifest: " + problem), refusal(header, value));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\'', textBlock = """
            Bundle-SymbolicName   | a.b;singleton:=true
            Bundle-Version        | 1.0.0.SNAPSHOT
            Import-Package        | a;b;version="[1.0,2)";resolution:=optional,java.util,c;x="a;b,\\"c"
            DynamicImport-Package | *,a.*,b
            Export-Package        | a;version="1.0";uses:="b,c",a;version=2
            Require-Bundle        | a;bundle-version="[1,2)";visibility:=reexport
            Provide-Capability    | org.nemorelay.plugin;kind=a_b.c-1;config:List<String>="a b,c d";v:Version="1.0";n:List<Long>="1, 2"
            Require-Capability    | osgi.ee;filter:="(&(osgi.ee=JavaSE)(version=25))";cardinality:=multiple
            Bundle-NativeCode     | lib/x.so;osname=linux;osname=macosx;processor=x86-64,*
            Bundle-ClassPath      | .,/lib/a.jar,classes,classes/
            Service-Component     | OSGI-INF/x.xml
            Service-Component     | OSGI-INF/*.xml
            """)
    void whatIsRightIsLetIn(String header, String value) {
        assertEquals(Optional.empty(), refusal(header, value));
    }

    /** Readers do not agree which of two headers holds, or where one ends. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            A: b~B c~             | line 2 is no header, which is a name of at most 70 letters and digits, a colon, a blank and a value: "B c"
            A: b~IMPORT: c~import: d~ | line 3 has the header import a second time
            ' c~A: b~'            | line 1 goes on with a header, and there is none before it
            A: b^B: c~            | line 1 ends with a lone carriage return
            """)
    void aManifestThatReadersReadDifferentlyIsWrong(String text, String problem) {
        byte[] manifest = text.replace('~', '\n').replace('^', '\r').getBytes(StandardCharsets.UTF_8);
        assertEquals(
                problem,
                assertThrows(ManifestHeaders.Wrong.class, () -> ManifestHeaders.read(manifest))
                        .getMessage());
    }

    @Test
    void aLineThatGoesOnIsOneHeaderAndOtherSectionsAreNone() throws Exception {
        ManifestHeaders headers =
                ManifestHeaders.read("A: b\r\n c\r\n\r\nName: x\r\nA: d\r\n".getBytes(StandardCharsets.UTF_8));
        assertEquals(Optional.of("bc"), headers.value("a"));
        assertEquals(Optional.empty(), headers.value("Name"));
    }
}
