import type { A2AError } from "../protocol/index.ts";
import { ERROR_MAPPINGS, toA2AErrorName } from "../wire/index.ts";

/**
 * Codes of command-line errors (a2a-cli SPEC, appendix D). The error table in `docs/reference/errors.md` is
 * generated from the docstrings of the error codes.
 */
type CliErrorCode =
  /** The command line, a variable, or a settings file is invalid. To do: read the `--help` of the command. */
  | "A2ACLI_ERR_USAGE"
  /** No agent card was found at the expected URLs. To do: pass the URL of the agent or of its agent card. */
  | "A2ACLI_ERR_CARD_NOT_FOUND"
  /**
   * The fetched document is not a valid A2A agent card. To do: run `colloquy card validate`, which lists
   * every invalid member.
   */
  | "A2ACLI_ERR_CARD_INVALID"
  /**
   * No server responds at the URL of the agent, or the task store is not available. To do: check that the agent or the
   * database is running and that its URL is correct.
   */
  | "A2ACLI_ERR_UNREACHABLE"
  /**
   * The agent requires credentials, but the user passed no credentials. To do: pass the credentials that the
   * agent card requires.
   */
  | "A2ACLI_ERR_CREDENTIALS_MISSING"
  /**
   * The agent rejected the credentials. To do: check the credentials; `colloquy config show` lists the source
   * of each credential.
   */
  | "A2ACLI_ERR_AUTH_FAILED"
  /**
   * The time limit of `--timeout` expired, but the agent continues any task that it has started. To do: run
   * `colloquy task wait` with the printed task id.
   */
  | "A2ACLI_ERR_TIMEOUT"
  /**
   * Another process uses the port of the server. To do: stop the other process, or choose another port with
   * `--port`.
   */
  | "A2ACLI_ERR_PORT_IN_USE"
  /**
   * The `colloquy` program itself failed. To do: run the command again with `--debug`, and report the output.
   */
  | "A2ACLI_ERR_INTERNAL";

/** Exit code of the process for each error code. */
export const EXIT_CODES: Record<CliErrorCode, number> = {
  A2ACLI_ERR_USAGE: 2,
  A2ACLI_ERR_CARD_NOT_FOUND: 3,
  A2ACLI_ERR_CARD_INVALID: 1,
  A2ACLI_ERR_UNREACHABLE: 3,
  A2ACLI_ERR_CREDENTIALS_MISSING: 4,
  A2ACLI_ERR_AUTH_FAILED: 4,
  A2ACLI_ERR_TIMEOUT: 5,
  A2ACLI_ERR_PORT_IN_USE: 1,
  A2ACLI_ERR_INTERNAL: 1,
};

/** A command-line error with an error code and an optional hint for the user. */
export class CliError extends Error {
  override readonly name: string = "CliError";
  readonly code: string;
  readonly hint: string | undefined;
  readonly a2aCode: number | undefined;
  readonly exitCode: number;

  constructor(code: CliErrorCode, message: string, hint?: string, cause?: unknown);
  constructor(error: A2AError, hint?: string);
  constructor(codeOrError: CliErrorCode | A2AError, second?: string, hint?: string, cause?: unknown) {
    if (typeof codeOrError === "string") {
      super(second, cause === undefined ? undefined : { cause });
      this.code = codeOrError;
      this.hint = hint;
      this.a2aCode = undefined;
      this.exitCode = EXIT_CODES[codeOrError];
    } else {
      super(codeOrError.message, { cause: codeOrError });
      this.code = toA2AErrorName(codeOrError.reason);
      this.hint = second;
      const { reason, code } = codeOrError;
      // Codes of HTTP and gRPC are positive.
      this.a2aCode = code !== undefined && code < 0 ? code : ERROR_MAPPINGS[reason].jsonRpc;
      this.exitCode = 1;
    }
  }

  /** Returns the JSON error envelope (a2a-cli SPEC, appendix B). */
  toJSON(): { error: { code: string; message: string; hint: string | null; a2aCode: number | null } } {
    return {
      error: {
        code: this.code,
        message: this.message,
        hint: this.hint ?? null,
        a2aCode: this.a2aCode ?? null,
      },
    };
  }
}

/**
 * Creates an `A2ACLI_ERR_USAGE` error for a mistake on the command line, in a variable, or in a settings
 * file.
 */
export function createUsageError(message: string, hint?: string, cause?: unknown): CliError {
  return new CliError("A2ACLI_ERR_USAGE", message, hint, cause);
}

/** Converts any thrown value to a `CliError`. */
export function toCliError(
  thrown: unknown,
  context: { hint?: string; hasCredentials?: boolean } = {},
): CliError {
  if (thrown instanceof CliError) return thrown;
  if (isA2AError(thrown)) return fromA2AError(thrown, context);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (isPortInUseError(thrown)) return createPortInUseError(message, thrown);
  return new CliError("A2ACLI_ERR_INTERNAL", message, context.hint, thrown);
}

/** Returns whether a server cannot listen because another process uses the port. */
export function isPortInUseError(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "EADDRINUSE";
}

export function createPortInUseError(message: string, cause: unknown): CliError {
  const hint = "--port selects the port; 0 selects any free port.";
  return new CliError("A2ACLI_ERR_PORT_IN_USE", message, hint, cause);
}

/**
 * The function compares error names instead of error classes, because an agent file may load another copy of
 * Colloquy.
 */
function isA2AError(thrown: unknown): thrown is A2AError {
  return thrown instanceof Error && thrown.name === "A2AError";
}

function fromA2AError(
  error: A2AError,
  { hint, hasCredentials }: { hint?: string; hasCredentials?: boolean },
): CliError {
  const { reason, message } = error;
  if (reason === "UNAVAILABLE") {
    return new CliError("A2ACLI_ERR_UNREACHABLE", message, hint, error);
  }
  if (reason === "UNAUTHENTICATED" && !hasCredentials) {
    return new CliError(
      "A2ACLI_ERR_CREDENTIALS_MISSING",
      message,
      "Pass --bearer, --api-key, --basic, or --oauth-client, as the agent card requires. For OAuth, run colloquy auth login.",
      error,
    );
  }
  if (reason === "UNAUTHENTICATED" || reason === "PERMISSION_DENIED") {
    return new CliError(
      "A2ACLI_ERR_AUTH_FAILED",
      message,
      hint ?? "Check the credentials that you pass.",
      error,
    );
  }
  if (reason === "EXTENSION_SUPPORT_REQUIRED")
    return new CliError(
      error,
      hint ?? "If your message follows that extension, pass --extension with its URI.",
    );
  return new CliError(error, hint ?? formatViolations(error));
}

function formatViolations(error: A2AError): string | undefined {
  if (error.violations.length < 2) return undefined;
  return error.violations.map(({ field, description }) => `${field}: ${description}`).join("; ");
}
