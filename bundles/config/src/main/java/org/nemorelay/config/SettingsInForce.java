package org.nemorelay.config;

import java.util.List;
import org.osgi.annotation.versioning.ProviderType;

/**
 * The settings of the running role as they are in force, whatever its files say by now. A service; its properties are set
 * anew when the settings may have changed. Safe for any thread.
 */
@ProviderType
@FunctionalInterface
public interface SettingsInForce {
    /** Sorted by name, credentials hidden. */
    List<EffectiveSettings.Setting> settings();
}
