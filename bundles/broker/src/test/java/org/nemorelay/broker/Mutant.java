package org.nemorelay.broker;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;

/** The broker with one fault: its classes and those of the exploration again, in a loader that changes the byte code of one method. */
final class Mutant extends ClassLoader {
    private static final String PACKAGE = "org.nemorelay.broker.";

    /** One fault, in one method and the lambdas in it. */
    sealed interface Fault {
        String className();

        String method();

        /** Every read of that field there yields a constant. */
        record Read(String className, String method, String field, long constant) implements Fault {}

        /** No write of that field happens there. */
        record Set(String className, String method, String field) implements Fault {}

        /** Calls of that name there do not happen; one that has an answer answers a constant. */
        record Call(String className, String method, String callee, long constant) implements Fault {}
    }

    private final Fault fault;
    private final AtomicInteger changed = new AtomicInteger();

    Mutant(Fault fault) {
        super(Mutant.class.getClassLoader());
        this.fault = fault;
    }

    /** Explores the faulty broker; see {@link Exploration}. */
    Map<String, Object> explore(int depth) throws ReflectiveOperationException {
        @SuppressWarnings("unchecked")
        IntFunction<Map<String, Object>> exploration = (IntFunction<Map<String, Object>>)
                loadClass(Exploration.class.getName()).getDeclaredConstructor().newInstance();
        return exploration.apply(depth);
    }

    /** How many instructions the fault replaced; the broker no longer has what it names when none. */
    int changed() {
        return changed.get();
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(PACKAGE)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : define(name);
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] code = in.readAllBytes();
            byte[] ours = name.equals(PACKAGE + fault.className()) ? faulty(code) : code;
            return defineClass(name, ours, 0, ours.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private byte[] faulty(byte[] code) {
        ClassFile classes = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(
                java.lang.classfile.ClassHierarchyResolver.ofResourceParsing(getParent())
                        .orElse(java.lang.classfile.ClassHierarchyResolver.defaultResolver())));
        return classes.transformClass(
                classes.parse(code),
                ClassTransform.transformingMethodBodies(
                        method -> {
                            String name = method.methodName().stringValue();
                            return name.equals(fault.method()) || name.startsWith("lambda$" + fault.method() + "$");
                        },
                        this::replace));
    }

    private void replace(CodeBuilder builder, CodeElement element) {
        switch (fault) {
            case Fault.Read read
            when element instanceof FieldInstruction field
                    && field.opcode() == Opcode.GETFIELD
                    && field.name().equalsString(read.field()) -> {
                changed.incrementAndGet();
                builder.pop();
                answer(builder, TypeKind.from(field.typeSymbol()), read.constant());
            }
            case Fault.Set set
            when element instanceof FieldInstruction field
                    && field.opcode() == Opcode.PUTFIELD
                    && field.name().equalsString(set.field()) -> {
                changed.incrementAndGet();
                if (TypeKind.from(field.typeSymbol()).slotSize() == 2) {
                    builder.pop2();
                } else {
                    builder.pop();
                }
                builder.pop();
            }
            case Fault.Call call
            when element instanceof InvokeInstruction invoke && invoke.name().equalsString(call.callee()) -> {
                changed.incrementAndGet();
                for (ClassDesc parameter : invoke.typeSymbol().parameterList().reversed()) {
                    if (TypeKind.from(parameter).slotSize() == 2) {
                        builder.pop2();
                    } else {
                        builder.pop();
                    }
                }
                if (invoke.opcode() != Opcode.INVOKESTATIC) {
                    builder.pop();
                }
                answer(builder, TypeKind.from(invoke.typeSymbol().returnType()), call.constant());
            }
            default -> builder.with(element);
        }
    }

    private static void answer(CodeBuilder builder, TypeKind type, long constant) {
        switch (type) {
            case VOID -> {}
            case LONG -> builder.loadConstant(constant);
            case REFERENCE, FLOAT, DOUBLE -> throw new IllegalArgumentException("no constant for " + type);
            case BOOLEAN, BYTE, CHAR, SHORT, INT -> builder.loadConstant((int) constant);
        }
    }
}
