# Roots of Debian that hold what is named and nothing else, for tests of what a bare machine needs. To be sourced:
#   . tests/fresh_root.sh
#   if reason=$(why_no_fresh_root bookworm); then echo "skipped: $reason"; exit 77; fi
#   fresh_root bookworm "$scratch/root" python3 python3-venv
#   root_binds=("$HOME/.cache/ccache:/root/.cache/ccache")
#   in_fresh_root "$scratch/root" bash -c 'cd /tmp && python3 -m venv here'
#   rm -rf "$scratch/root"
# Packages and wheels come as they come to the host: by its sources of apt, its proxies, certificates and settings of pip.

# Where a root is kept once debootstrap has made it, which takes a minute or two.
fresh_roots=${XDG_CACHE_HOME:-$HOME/.cache}/trigram/roots

# hosts_sources SUITE: lines of sources.list, the host's own where they are Debian's, for that suite.
hosts_sources() {
  local codename
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 2>/dev/null | sort -u |
    awk -v codename="$codename" -v suite="$1" '$2 ~ "^" codename "(-|$)" && $3 == "main" { sub("^" codename, suite, $2); print "deb", $1, $2, $3 }'
}

# hosts_mirror SUITE: the site of the suite itself.
hosts_mirror() {
  hosts_sources "$1" | awk -v suite="$1" '$3 == suite { print $2; exit }'
}

# why_no_fresh_root SUITE: prints what stands against one and succeeds, else fails.
why_no_fresh_root() {
  local mirror folder answer=no
  [ "$(id -u)" = 0 ] || { echo "making a root takes root's rights"; return; }
  command -v debootstrap >/dev/null || { echo "there is no debootstrap (apt-get install debootstrap)"; return; }
  unshare --mount --pid --fork true 2>/dev/null || { echo "this system lets nobody mount in a namespace"; return; }
  mirror=$(hosts_mirror "$1")
  [ -n "$mirror" ] || { echo "apt has no source of Debian's packages"; return; }
  folder=$(mktemp -d)
  timeout 60 /usr/lib/apt/apt-helper download-file "$mirror/dists/$1/InRelease" "$folder/InRelease" >/dev/null 2>&1 && answer=yes
  rm -r "$folder"
  [ "$answer" = no ] && echo "$mirror has no answer for $1"
}

# fresh_root SUITE FOLDER PACKAGES...: FOLDER becomes a root of that suite, debootstrap's minbase with the packages.
fresh_root() {
  local suite=$1 folder=$2 kept
  shift 2
  kept=$fresh_roots/$suite-$(printf '%s\n' "$@" | sort | sha256sum | cut -c1-12)
  mkdir -p "$fresh_roots"
  (
    flock 9
    [ -e "$kept/etc/apt/sources.list" ] && exit
    rm -rf "$kept" "$kept.new"
    make_root "$suite" "$kept.new" "$@" >"$kept.log" 2>&1 || { tail -5 "$kept.log" >&2; exit 1; }
    mv "$kept.new" "$kept"
  ) 9>"$kept.lock" || return 1
  rm -rf "$folder"
  mkdir -p "$(dirname "$folder")"
  cp -a --reflink=auto "$kept" "$folder"
}

make_root() {
  local suite=$1 folder=$2
  shift 2
  debootstrap --variant=minbase --include="$(IFS=,; echo "$*")" "$suite" "$folder" "$(hosts_mirror "$suite")" || return 1
  grep -lr Acquire /etc/apt/apt.conf.d | xargs -r cp -t "$folder/etc/apt/apt.conf.d"
  cp -r /etc/apt/trusted.gpg.d /etc/apt/auth.conf.d "$folder/etc/apt/"
  mkdir -p "$folder/etc/ssl/certs"
  [ ! -e /etc/ssl/certs/ca-certificates.crt ] || cp /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/"
  [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$folder/etc/"
  hosts_sources "$suite" >"$folder/etc/apt/sources.list"
  in_fresh_root "$folder" apt-get update
}

# in_fresh_root FOLDER COMMAND...: runs it there, with nothing of the host but what root_binds names, each as HOST:INSIDE; what it
# mounts and starts ends with it.
root_binds=()
in_fresh_root() {
  local folder=$1 name environment=()
  shift
  for name in "${!http@}" "${!https@}" "${!HTTP@}" "${!HTTPS@}" "${!no_proxy@}" "${!NO_PROXY@}" "${!SSL_CERT@}" "${!REQUESTS_CA@}" "${!CURL_CA@}" \
              "${!GIT_SSL@}" "${!PIP_@}" "${!OPENBLAS_@}"; do
    [ "$name" = PIP_FIND_LINKS ] || environment+=("$name=${!name}")  # a folder of the host
  done
  cp /etc/resolv.conf /etc/hosts "$folder/etc/"
  unshare --mount --pid --fork --kill-child bash -c '
    set -e
    folder=$1 binds=$2
    mount --bind "$folder" "$folder"  # a root that is a mount, as every machine has, where programs mount in namespaces of their own
    mount -t proc proc "$folder/proc"
    mount --rbind /dev "$folder/dev"
    mount -t sysfs sysfs "$folder/sys"
    mount -t tmpfs tmpfs "$folder/dev/shm" 2>/dev/null || true
    for bind in $binds; do
      mkdir -p "${bind%%:*}" "$folder${bind#*:}"
      mount --bind "${bind%%:*}" "$folder${bind#*:}"
    done
    shift 2
    exec chroot "$folder" "$@"' in_fresh_root "$folder" "${root_binds[*]}" \
    /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PIP_ROOT_USER_ACTION=ignore "${environment[@]}" "$@"
}
