import { defineOptionNames } from "../base/usage-checks/index.ts";
import { assertValidTurnLimits } from "../engine/index.ts";
import {
  assertValidRetentionOptions,
  type RetentionOptions,
  type RetentionPeriods,
} from "../stores/retention/index.ts";
import type { RetryPolicy } from "../webhooks/index.ts";
import type { CardSigningOptions } from "./card/card-signing.ts";
import type { OperatorOptions } from "./operator-access.ts";
import type { PushSigningOptions } from "./push/push-signer.ts";
import {
  type CorsOptions,
  type MetricsOptions,
  type PushOptions,
  type ServerLimits,
  type ServerOptions,
  SUPPORTED_A2A_VERSIONS,
  type TelemetryOptions,
} from "./server-options.ts";

/** The option names of `createServer`, separated by spaces. */
export const SERVER_OPTION_NAMES = [
  "allowUnauthenticated allowedOrigins authenticate autoMessageId basePath cancelGraceMs cardFormat cardMaxAgeSeconds",
  "cardSigning cors deduplicateMessages healthEndpoints heartbeatMs inputModePolicy limits maintenanceSocket maxSilenceMs maxTurnMs mergeChunks",
  "metrics missingVersionPolicy mountedHandlers observer operator peerLeniency previousAgentIds publicUrl push record retention role simpleDialect specRevision store",
  "telemetry tenants textIndex tickToken versions",
] as const;

const assertKnownRetentionPeriods = defineOptionNames<RetentionPeriods>()(
  '"retention.agents" of createServer',
  "keepEventsMs keepTasksMs keepWaitingTasksMs",
);
const assertKnownOptions = defineOptionNames<ServerOptions>({
  cors: defineOptionNames<CorsOptions>()(
    '"cors" of createServer',
    "credentials maxAgeSeconds origins privateNetwork",
  ),
  limits: defineOptionNames<ServerLimits>()(
    '"limits" of createServer',
    "bufferedBytes connections listPageBytes maxBodyBytes maxJsonValues queuedTurns runs runsPerCaller streams taskSize",
    "turnAttempts unfinishedMessageBytes writeStallMs",
  ),
  metrics: defineOptionNames<MetricsOptions>()('"metrics" of createServer', "host port token"),
  operator: defineOptionNames<OperatorOptions>()('"operator" of createServer', "authenticate"),
  push: defineOptionNames<PushOptions>({
    retry: defineOptionNames<RetryPolicy>()(
      '"push.retry" of createServer',
      "giveUpAfterMs initialDelayMs maxDelayMs",
    ),
    signing: defineOptionNames<PushSigningOptions>()(
      '"push.signing" of createServer',
      "alg issuer kid previousKeys privateKey",
    ),
  })(
    '"push" of createServer',
    "allowPrivate allowedHosts challenge maxConcurrent maxPerHost redactSecrets resolve retry signing timeoutMs",
    "maxConfigsPerCaller maxConfigsPerTask maxPerSecondPerHost maxPerSecondPerOwner",
  ),
  retention: defineOptionNames<RetentionOptions>({
    agents(agents: NonNullable<RetentionOptions["agents"]>) {
      for (const periods of Object.values(agents)) if (periods) assertKnownRetentionPeriods(periods);
    },
  })(
    '"retention" of createServer',
    "agents keepEventsMs keepTasksMs keepWaitingTasksMs maxBytes maxFinishedTasks sweepIntervalMs",
  ),
  telemetry: defineOptionNames<TelemetryOptions>()(
    '"telemetry" of createServer',
    "metricIntervalMs otlp otlpHeaders sampleRatio serviceName",
  ),
})("createServer", ...SERVER_OPTION_NAMES);
const assertKnownCardSigningOptions = defineOptionNames<CardSigningOptions>()(
  '"cardSigning" of createServer',
  "alg jku kid privateKey",
);

const ALLOWED_OPTION_VALUES = {
  cardFormat: ["v1", "v0.3", "hybrid"],
  specRevision: ["1.0.0", "1.0.1"],
  missingVersionPolicy: ["0.3", "infer"],
  peerLeniency: ["all", "none"],
  inputModePolicy: ["enforce", "ignore"],
  role: ["web", "worker", "all"],
} satisfies { readonly [Name in keyof ServerOptions]?: readonly ServerOptions[Name][] };

/** Throws an error if an option is invalid, because types do not protect untyped code. */
export function assertValidOptions(options: ServerOptions): void {
  assertKnownOptions(options);
  assertValidTurnLimits(options, "createServer");
  const {
    versions = SUPPORTED_A2A_VERSIONS,
    allowedOrigins,
    cardFormat,
    cardMaxAgeSeconds,
    publicUrl,
    basePath,
    tenants,
    cardSigning,
  } = options;
  if (
    !Array.isArray(versions) ||
    versions.length === 0 ||
    !versions.every((one) => SUPPORTED_A2A_VERSIONS.includes(one))
  )
    throw createOptionError("versions", versions, `use a list of "1.0", "0.3", or both`);
  for (const [name, allowed] of Object.entries(ALLOWED_OPTION_VALUES)) {
    const value = options[name as keyof typeof ALLOWED_OPTION_VALUES];
    if (value !== undefined && !(allowed as readonly string[]).includes(value))
      throw createOptionError(
        name,
        value,
        `use one of ${allowed.map((text) => JSON.stringify(text)).join(", ")}`,
      );
  }
  if (cardMaxAgeSeconds !== undefined && !(Number.isInteger(cardMaxAgeSeconds) && cardMaxAgeSeconds >= 0))
    throw createOptionError("cardMaxAgeSeconds", cardMaxAgeSeconds, "use a whole number of seconds");
  if (cardFormat !== undefined && cardFormat !== "v1" && !versions.includes("0.3"))
    throw createOptionError("cardFormat", cardFormat, `this format requires "0.3" in "versions"`);
  if (publicUrl !== undefined && !isHttpUrl(publicUrl))
    throw createOptionError(
      "publicUrl",
      publicUrl,
      "use an absolute URL, such as https://example.com/agents",
    );
  if (allowedOrigins !== undefined && !isOriginList(allowedOrigins))
    throw createOptionError(
      "allowedOrigins",
      allowedOrigins,
      `use "*" or a list such as ["https://shop.example"]`,
    );
  if (options.cors !== undefined) assertValidCorsOptions(options.cors);
  if (options.retention) assertValidRetentionOptions(options.retention);
  if (options.telemetry) assertValidTelemetry(options.telemetry);
  if (basePath !== undefined && !/^(\/[A-Za-z0-9._~-]+)+$/.test(basePath))
    throw createOptionError(
      "basePath",
      basePath,
      "use a path with a leading slash and no trailing slash, such as /agents",
    );
  if (tenants !== undefined && typeof tenants !== "function" && !Array.isArray(tenants))
    throw createOptionError(
      "tenants",
      tenants,
      `use a list of names, or a function that decides whether a caller may use a tenant`,
    );
  for (const key of Array.isArray(cardSigning)
    ? cardSigning
    : cardSigning === undefined
      ? []
      : [cardSigning]) {
    if (typeof key !== "object" || key === null || !("privateKey" in key))
      throw new Error(`"cardSigning" has a key without "privateKey"; use a JWK, or PEM together with "alg".`);
    assertKnownCardSigningOptions(key);
  }
}

/** Throws an error if an option for traces or for their export is invalid. */
function assertValidTelemetry(telemetry: TelemetryOptions): void {
  const { otlp, sampleRatio = 1 } = telemetry;
  if (otlp !== undefined && !isHttpUrl(otlp))
    throw createOptionError(
      "telemetry.otlp",
      otlp,
      "use the URL of a collector, such as http://127.0.0.1:4318",
    );
  if (!(sampleRatio >= 0 && sampleRatio <= 1))
    throw createOptionError("telemetry.sampleRatio", sampleRatio, "use a number from 0 to 1");
}

/** Throws an error if an option is invalid, because types do not protect untyped code. */
function assertValidCorsOptions(cors: CorsOptions): void {
  const { origins, credentials, maxAgeSeconds = 0 } = cors;
  if (!isOriginList(origins) || origins.length === 0)
    throw createOptionError("cors.origins", origins, `use "*" or a list such as ["https://shop.example"]`);
  if (origins === "*" && credentials)
    throw new Error(
      `"cors.credentials" requires a list of origins, because any page could use the user's cookies; list the origins.`,
    );
  if (!Number.isInteger(maxAgeSeconds) || maxAgeSeconds < 0)
    throw createOptionError("cors.maxAgeSeconds", maxAgeSeconds, "use a whole number of seconds");
}

/** A URL with a path never equals an `Origin` header, so the option would have no effect. */
function isOriginList(origins: unknown): boolean {
  return (
    origins === "*" || (Array.isArray(origins) && origins.every((one) => URL.parse(one)?.origin === one))
  );
}

/** Creates the error for an option with an invalid value. `advice` names a valid value. */
function createOptionError(name: string, value: unknown, advice: string): Error {
  return new Error(`${JSON.stringify(name)} is ${JSON.stringify(value)}; ${advice}.`);
}

/** Returns true for an absolute HTTP URL without a query and without a fragment. */
function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return (url?.protocol === "https:" || url?.protocol === "http:") && url.search === "" && url.hash === "";
}
