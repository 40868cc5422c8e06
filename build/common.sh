# Sourced by ./run and ./test from the root of the repository: the JDK, and Maven as both call it.

# What the tests call beyond JDK 25, Maven and bash, as command:package of Debian; ./test installs as root under CI what is
# missing.
test_commands=(unshare:util-linux setpriv:util-linux ip:iproute2 python3:python3 pip3:python3-pip npm:npm
    systemd-analyze:systemd nats-server:nats-server openssl:openssl haproxy:haproxy nginx:nginx-light
    faketime:faketime)

die() {
    printf '%s\n' "$*" >&2
    exit 1
}

lock_build() { # one build at a time; held until this shell ends
    mkdir -p target
    exec 9> target/build.lock
    flock -n 9 || {
        echo "waiting for another build of this folder" >&2
        flock 9
    }
}

is_jdk25() {
    [ -x "$1/bin/javac" ] && [ -x "$1/bin/jlink" ] && grep -q '^JAVA_VERSION="25[."]' "$1/release" 2> /dev/null
}

find_jdk() {
    local javac candidate
    javac=$(command -v javac || true)
    [ -z "$javac" ] || javac=$(readlink -f "$javac")
    for candidate in "${JAVA_HOME:-}" "${javac%/bin/javac}" /usr/lib/jvm/*; do
        if [ -n "$candidate" ] && is_jdk25 "$candidate"; then
            export JAVA_HOME=$candidate
            return
        fi
    done
    die "JDK 25 not found in JAVA_HOME, PATH or /usr/lib/jvm: install a full JDK 25 (Debian: openjdk-25-jdk-headless or temurin-25-jdk)"
}

# maven LOG ARGUMENT...: Maven with its output in LOG; offline, and online only when something was not yet fetched.
maven() {
    local log=$1
    shift
    find_jdk
    command -v mvn > /dev/null || die "Maven not found in PATH: install Maven 3.8 or newer (Debian: maven)"
    # Maven's own guava and jansi would be warned about on every call.
    export MAVEN_OPTS="--sun-misc-unsafe-memory-access=allow --enable-native-access=ALL-UNNAMED ${MAVEN_OPTS:-}"
    mkdir -p "$(dirname "$log")"
    if mvn -B -o -Dstyle.color=never "$@" > "$log" 2>&1; then
        return 0
    fi
    grep -qiE 'offline mode|has not been downloaded from it before' "$log" || return 1
    mvn -B -Dstyle.color=never "$@" > "$log" 2>&1
}
