package org.nemorelay.framework;

import java.io.IOException;
import java.util.Map;
import org.junit.runner.RunWith;
import org.nemorelay.it.Relay;
import org.ops4j.pax.exam.Configuration;
import org.ops4j.pax.exam.ExamFactory;
import org.ops4j.pax.exam.Option;
import org.ops4j.pax.exam.junit.PaxExam;
import org.ops4j.pax.exam.spi.reactors.ExamReactorStrategy;
import org.ops4j.pax.exam.spi.reactors.PerClass;

@RunWith(PaxExam.class)
@ExamFactory(RoleContainerFactory.class)
@ExamReactorStrategy(PerClass.class)
public class WorkerFeatureTest extends FeatureTest {
    @Configuration
    public Option[] worker() throws IOException {
        return role("worker", Map.of("daemon-address", "http://127.0.0.1:" + Relay.freePort()));
    }
}
