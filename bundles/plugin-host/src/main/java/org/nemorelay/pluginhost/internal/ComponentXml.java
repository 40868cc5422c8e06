package org.nemorelay.pluginhost.internal;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.xml.XMLConstants;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.parsers.SAXParserFactory;
import org.xml.sax.Attributes;
import org.xml.sax.SAXException;
import org.xml.sax.SAXParseException;
import org.xml.sax.helpers.DefaultHandler;

/** The component descriptions of a file that a Service-Component header names (OSGi Declarative Services 112.4.3). */
final class ComponentXml {
    static final String HEADER = "Service-Component";

    private static final String NAMESPACE = "http://www.osgi.org/xmlns/scr/v1.";

    /**
     * One component.
     *
     * @param pids of its configurations; the component's name where it names none
     * @param implementation empty where it names none
     */
    record Described(List<String> pids, Optional<String> implementation) {}

    private ComponentXml() {}

    /** @throws SAXException says why it is none, as the end of a sentence */
    static List<Described> read(InputStream in) throws IOException, SAXException {
        Reading reading = new Reading();
        try {
            SAXParserFactory parsers = SAXParserFactory.newDefaultNSInstance();
            parsers.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
            parsers.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
            parsers.newSAXParser().parse(in, reading);
        } catch (ParserConfigurationException e) {
            throw new IllegalStateException("every Java runtime has this parser", e);
        } catch (SAXParseException e) {
            throw new SAXException("is no well-formed XML without DOCTYPE at line " + e.getLineNumber(), e);
        } catch (IOException e) {
            // Bytes that are no text of the encoding that it names.
            throw new SAXException("is no readable XML", e);
        }
        if (reading.all.isEmpty()) {
            throw new SAXException("describes no component");
        }
        return List.copyOf(reading.all);
    }

    private static final class Reading extends DefaultHandler {
        final List<Described> all = new ArrayList<>();
        private String name = "";
        private Optional<String> pids = Optional.empty();
        private Optional<String> implementation = Optional.empty();

        /** Without a namespace a component may stand as the whole document alone. */
        private static boolean described(String space) {
            return space.isEmpty() || space.startsWith(NAMESPACE);
        }

        @Override
        public void startElement(String space, String local, String qualified, Attributes attributes) {
            if (described(space) && local.equals("component")) {
                name = attributes.getValue("name");
                pids = Optional.ofNullable(attributes.getValue("configuration-pid"));
                implementation = Optional.empty();
            } else if (described(space) && local.equals("implementation")) {
                implementation = Optional.ofNullable(attributes.getValue("class"));
            }
        }

        @Override
        public void endElement(String space, String local, String qualified) {
            if (described(space) && local.equals("component")) {
                String known = name == null ? implementation.orElse("") : name;
                List<String> each = new ArrayList<>();
                for (String pid : pids.orElse("$").strip().split("\\s+")) {
                    each.add(pid.equals("$") ? known : pid);
                }
                all.add(new Described(List.copyOf(each), implementation));
            }
        }
    }
}
