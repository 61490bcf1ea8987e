import { A2AError, type AgentCard, type AgentInterface } from "../protocol/index.ts";
import type { ProtocolVersion } from "../wire/index.ts";
import { CLIENT_BINDING_NAMES, type ClientBindingName } from "./transport/create-transport.ts";

/** Preferences for choosing one interface of an agent card. */
interface InterfacePreferences {
  readonly binding?: ClientBindingName;
  /**
   * Protocol bindings in order of preference, best first. The client chooses the first of the preferred
   * bindings that the agent card offers in the requested version. Without `preferredBindings`, the client
   * follows the order of the interfaces in the agent card.
   */
  readonly preferredBindings?: readonly ClientBindingName[];
  /** The only accepted protocol version. By default, all supported versions are accepted. */
  readonly version?: ProtocolVersion;
  /**
   * Whether the client may use A2A 0.3 if the agent offers A2A 1.0, but not over the requested binding.
   * Default: false.
   */
  readonly allowOlderVersion?: boolean;
  /** A protocol binding that is chosen only if the agent card offers no other binding. */
  readonly avoidBinding?: ClientBindingName;
}

/** The supported protocol versions, newest first. */
const SUPPORTED_VERSIONS: readonly ProtocolVersion[] = ["1.0", "0.3"];

/**
 * Finds the newest protocol version that both the client and the agent support, and returns the first
 * interface with that version (A2A §8.3.2). If an agent offers only A2A 0.3, the client uses 0.3. If an agent
 * also offers A2A 1.0, the client uses 0.3 only if the options allow the older version.
 */
export function chooseInterface(
  card: AgentCard,
  {
    binding: requestedBinding,
    preferredBindings = [],
    version,
    allowOlderVersion,
    avoidBinding,
  }: InterfacePreferences = {},
): AgentInterface {
  const offeredInterfaces = card.supportedInterfaces;
  const binding =
    requestedBinding ??
    preferredBindings.find((offeredInterface) =>
      offeredInterfaces.some((candidate) => matchesBinding(candidate, offeredInterface, version)),
    );
  const supportsV1 = offeredInterfaces.some(
    (offeredInterface) => getProtocolVersion(offeredInterface) === "1.0",
  );
  const supportedInterfaces = offeredInterfaces.filter(({ protocolBinding }) =>
    binding === undefined ? isSupportedBinding(protocolBinding) : protocolBinding === binding,
  );
  const bindings = binding === undefined ? CLIENT_BINDING_NAMES.join(" or ") : binding;
  for (const wantedVersion of version === undefined ? SUPPORTED_VERSIONS : [version]) {
    const candidates = supportedInterfaces.filter(
      (offeredInterface) => getProtocolVersion(offeredInterface) === wantedVersion,
    );
    const chosen =
      candidates.find(({ protocolBinding }) => protocolBinding !== avoidBinding) ?? candidates[0];
    if (!chosen) continue;
    if (wantedVersion === "1.0" || version !== undefined || allowOlderVersion || !supportsV1) return chosen;
    const message = `${quoteAgentName(card)} supports A2A 1.0, but over ${bindings} only ${wantedVersion} (${formatOfferedInterfaces(card)}). Set { allowOlderVersion: true }, or omit the binding.`;
    throw new A2AError("VERSION_NOT_SUPPORTED", message);
  }
  const message = `${quoteAgentName(card)} does not offer ${bindings} at A2A ${version ?? SUPPORTED_VERSIONS.join(" or ")}; its card offers ${formatOfferedInterfaces(card)}.`;
  throw new A2AError("VERSION_NOT_SUPPORTED", message);
}

/**
 * Returns the protocol version of an interface, without the patch number (A2A §3.6). Returns `undefined` if
 * the protocol version is not supported.
 */
export function getProtocolVersion({ protocolVersion }: AgentInterface): ProtocolVersion | undefined {
  return SUPPORTED_VERSIONS.find(
    (version) => protocolVersion === version || protocolVersion.startsWith(`${version}.`),
  );
}

function matchesBinding(
  offeredInterface: AgentInterface,
  binding: ClientBindingName,
  version: ProtocolVersion | undefined,
): boolean {
  const supportedInterfaces = getProtocolVersion(offeredInterface);
  return (
    offeredInterface.protocolBinding === binding &&
    supportedInterfaces !== undefined &&
    (version ?? supportedInterfaces) === supportedInterfaces
  );
}

/** Returns whether this client supports a protocol binding. */
export function isSupportedBinding(binding: string): boolean {
  return CLIENT_BINDING_NAMES.some((offeredInterface) => offeredInterface === binding);
}

function quoteAgentName({ name }: AgentCard): string {
  return JSON.stringify(name);
}

function formatOfferedInterfaces({ supportedInterfaces }: AgentCard): string {
  const descriptions = supportedInterfaces.map(
    (offeredInterface) => `${offeredInterface.protocolBinding} ${offeredInterface.protocolVersion}`,
  );
  return descriptions.length > 0 ? descriptions.join(", ") : "nothing";
}
