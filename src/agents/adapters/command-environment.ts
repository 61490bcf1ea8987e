import { createHash } from "node:crypto";

/**
 * Variables that commands inherit. The variables describe the user and the system, and contain no secrets. Proxy
 * variables are not in the list, because their URLs may contain passwords.
 */
const INHERITED_VARIABLES: ReadonlySet<string> = new Set(
  [
    "PATH HOME USER LOGNAME SHELL TERM TZ TMPDIR LANG LANGUAGE",
    "LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME",
    // Windows programs fail to start without most of these variables.
    "APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA NUMBER_OF_PROCESSORS OS PATHEXT",
    "PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE WINDIR",
  ].flatMap((names) => names.split(" ")),
);

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Creates the environment of a child process from the environment of this process. The child inherits only
 * variables without secrets, the variables that `shouldPass` selects, and the variables in `extra`.
 */
export function createChildEnvironment(
  processEnv: Environment,
  shouldPass: (name: string) => boolean,
  extra: Environment = {},
): Record<string, string | undefined> {
  const inherited = Object.entries(processEnv).filter(
    // Windows does not distinguish upper case and lower case, as in `Path`.
    ([name]) => INHERITED_VARIABLES.has(name.toUpperCase()) || shouldPass(name),
  );
  return { ...Object.fromEntries(inherited), ...extra };
}

/**
 * Returns an id as the value of an environment variable. Callers choose the ids of contexts, and scripts use
 * variables in file names, options, and unquoted words. The variable therefore contains the SHA-256 of an id that
 * has other characters than letters, digits, `.`, `_`, and `-`, or that starts with `.` or `-`.
 */
export function toSafeEnvironmentId(id: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9._-]{0,255}$/.test(id)) return id;
  return `sha256-${createHash("sha256").update(id).digest("hex")}`;
}
