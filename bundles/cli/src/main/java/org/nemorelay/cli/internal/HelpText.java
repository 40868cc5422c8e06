package org.nemorelay.cli.internal;

import java.util.List;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Ansi.IStyle;
import picocli.CommandLine.Help.ColorScheme;
import picocli.CommandLine.Help.IParamLabelRenderer;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;

/** Help whose options stand as they are typed: {@code --port <PORT>}. */
final class HelpText extends Help {
    HelpText(CommandSpec command, ColorScheme colours) {
        super(command, colours);
    }

    @Override
    public IParamLabelRenderer parameterLabelRenderer() {
        return new IParamLabelRenderer() {
            @Override
            public Ansi.Text renderParameterLabel(ArgSpec argument, Ansi ansi, List<IStyle> styles) {
                return ansi.new Text(argument.arity().max() == 0 ? "" : " " + argument.paramLabel());
            }

            @Override
            public String separator() {
                return " ";
            }
        };
    }
}
