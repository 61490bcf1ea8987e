import type {
  AgentCard,
  AgentInterface,
  AuthenticationInfo,
  GetTaskPushNotificationConfigRequest,
  SendMessageConfiguration,
  TaskPushNotificationConfig,
} from "../../protocol/index.ts";
import { createCheckedSchema, createValidateOnlySchema } from "../composite-schemas.ts";
import type { OperationMessages } from "../operation-messages.ts";
import type { DecodingContext, DecodingSchema } from "../proto-json-schema.ts";
import { boolSchema, stringSchema } from "../scalar-schemas.ts";
import { ANY_TO_EMPTY_OBJECT_SCHEMA } from "../v1/decode.ts";
import { throwListTasksUnsupported } from "./encode.ts";

// What the decoders of JSON-RPC and of the proto share. All values of A2A 0.3 decode into the 1.0 model.

/** Ids in the resource name of a push notification configuration. */
export type PushConfigIds = Pick<GetTaskPushNotificationConfigRequest, "taskId" | "id">;
export type PushConfig = Omit<TaskPushNotificationConfig, "taskId">;

/**
 * Default id for a push notification configuration without an id. If a client sets another configuration
 * without an id, the new configuration replaces the old one. The TCK for 0.3 reads the configuration back
 * under the id `default`.
 */
export const DEFAULT_PUSH_CONFIG_ID = "default";

export function createUserRoleSchema(
  roleSchema: DecodingSchema<string>,
  user: string,
): DecodingSchema<string> {
  return createCheckedSchema(roleSchema, (role) =>
    role === "ROLE_USER" ? undefined : `must be ${user} in a request; an agent's role is for responses`,
  );
}

/** Schemas of the types that both bindings have. */
export const COMMON_TYPES: Readonly<Record<string, DecodingSchema<unknown>>> = {
  // The state implies `final`.
  Ignored: createValidateOnlySchema(boolSchema),
  Empty: ANY_TO_EMPTY_OBJECT_SCHEMA,
  ListTasks: { decode: throwListTasksUnsupported },
  PreferredTransport: { ...stringSchema, emptyValue: "JSONRPC" },
  ProtocolVersion: { ...stringSchema, emptyValue: "0.3.0" },
};

/** Operations that both bindings refuse. */
export const UNSUPPORTED_OPERATIONS: OperationMessages<"ListTasks"> = {
  ListTasks: ["ListTasks", "ListTasks"],
};

/**
 * Converts the authentication info of a webhook. If both the scheme and the credentials are missing, the
 * authentication info counts as not set.
 */
function fromAuthenticationInfo(
  { schemes, credentials }: { schemes?: string[]; credentials?: string },
  at: DecodingContext,
): AuthenticationInfo | undefined {
  if (at.isStrict && schemes?.length === 0) {
    at.pushPath("schemes");
    at.addViolation("must name at least one scheme");
    at.popPath();
  }
  const [scheme = ""] = schemes ?? [];
  if (credentials === undefined) return scheme === "" ? undefined : { scheme };
  return scheme === "" && at.isStrict
    ? at.addViolation(`needs "schemes" with at least one scheme`)
    : { scheme, credentials };
}

/** Returns the conversion of a configuration. `returnImmediately` of 1.0 is the opposite of `blocking`. */
export const createConfigurationConversion =
  (defaultBlocking: boolean) =>
  ({
    blocking = defaultBlocking,
    ...rest
  }: SendMessageConfiguration & { blocking?: boolean }): SendMessageConfiguration | undefined => {
    if (!blocking) return { ...rest, returnImmediately: true };
    return Object.keys(rest).length > 0 ? rest : undefined;
  };

interface CardFields extends Omit<AgentCard, "supportedInterfaces"> {
  readonly protocolVersion: string;
  readonly url: string;
  readonly preferredTransport: string;
  readonly additionalInterfaces?: { readonly url: string; readonly transport: string }[];
  readonly supportsAuthenticatedExtendedCard?: boolean;
}

function fromCard03({
  protocolVersion,
  url,
  preferredTransport,
  additionalInterfaces = [],
  supportsAuthenticatedExtendedCard: extendedAgentCard,
  capabilities,
  ...card
}: CardFields): AgentCard {
  const declared = [{ url, transport: preferredTransport }, ...additionalInterfaces];
  return {
    ...card,
    supportedInterfaces: mergeInterfaces(declared, protocolVersion),
    capabilities: { ...capabilities, ...(extendedAgentCard === undefined ? {} : { extendedAgentCard }) },
  };
}

/**
 * Merges the interfaces of a 0.3 card into one list that starts with the main interface. The function
 * removes duplicates, because 0.3 recommends listing the main interface again under the additional
 * interfaces.
 */
function mergeInterfaces(
  declared: readonly { url: string; transport: string }[],
  protocolVersion: string,
): AgentInterface[] {
  const interfaces = new Map<string, AgentInterface>();
  for (const { url, transport } of declared) {
    const key = `${transport} ${url}`;
    // 0.3 cards include the patch in their version. 1.0 omits the patch.
    const [, version = protocolVersion] = /^(\d+\.\d+)\./.exec(protocolVersion) ?? [];
    if (url !== "" && !interfaces.has(key))
      interfaces.set(key, { url, protocolBinding: transport, protocolVersion: version });
  }
  return [...interfaces.values()];
}

export const COMMON_CONVERSIONS: {
  readonly AuthenticationInfo: typeof fromAuthenticationInfo;
  readonly AgentCard: typeof fromCard03;
} = { AuthenticationInfo: fromAuthenticationInfo, AgentCard: fromCard03 };
