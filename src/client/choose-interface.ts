import { A2AError, type AgentCard, type AgentInterface } from "../protocol/index.ts";
import type { ProtocolVersion } from "../wire/index.ts";
import { CLIENT_BINDINGS, type ClientBinding } from "./transport/create-transport.ts";

export interface InterfacePreferences {
  readonly binding?: ClientBinding;
  /** The first of these that the card offers, in the version that is asked for; where it offers none, its own order counts. */
  readonly preferredBindings?: readonly ClientBinding[];
  /** Only this one. */
  readonly version?: ProtocolVersion;
  /** Whether 0.3 may be spoken with an agent that also speaks 1.0, but not over the binding that is asked for. */
  readonly allowOlderVersion?: boolean;
  /** Taken only where there is no other. */
  readonly avoidBinding?: ClientBinding;
}

/** Those that are spoken, the newest first. */
const SUPPORTED_VERSIONS: readonly ProtocolVersion[] = ["1.0", "0.3"];

/**
 * The interface of the card that is spoken to: the first, in the card's order, of the newest version that both sides
 * have (A2A §8.3.2). An agent of 0.3 is spoken to in 0.3; one that has 1.0 too never silently is.
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
  const bindings = binding === undefined ? CLIENT_BINDINGS.join(" or ") : binding;
  for (const wantedVersion of version === undefined ? SUPPORTED_VERSIONS : [version]) {
    const candidates = supportedInterfaces.filter(
      (offeredInterface) => getProtocolVersion(offeredInterface) === wantedVersion,
    );
    const chosen =
      candidates.find(({ protocolBinding }) => protocolBinding !== avoidBinding) ?? candidates[0];
    if (!chosen) continue;
    if (wantedVersion === "1.0" || version !== undefined || allowOlderVersion || !supportsV1) return chosen;
    const message = `${quoteName(card)} speaks A2A 1.0, but over ${bindings} only ${wantedVersion} (${formatOfferedInterfaces(card)}); allow that with { allowOlder: true }, or leave the binding to the card.`;
    throw new A2AError("VERSION_NOT_SUPPORTED", message);
  }
  const message = `${quoteName(card)} does not offer ${bindings} at A2A ${version ?? SUPPORTED_VERSIONS.join(" or ")}; its card offers ${formatOfferedInterfaces(card)}.`;
  throw new A2AError("VERSION_NOT_SUPPORTED", message);
}

/** The version that an interface speaks, patches aside (A2A §3.6); undefined for one that is not spoken here. */
export function getProtocolVersion({ protocolVersion }: AgentInterface): ProtocolVersion | undefined {
  return SUPPORTED_VERSIONS.find(
    (version) => protocolVersion === version || protocolVersion.startsWith(`${version}.`),
  );
}

function matchesBinding(
  offeredInterface: AgentInterface,
  binding: ClientBinding,
  version: ProtocolVersion | undefined,
): boolean {
  const supportedInterfaces = getProtocolVersion(offeredInterface);
  return (
    offeredInterface.protocolBinding === binding &&
    supportedInterfaces !== undefined &&
    (version ?? supportedInterfaces) === supportedInterfaces
  );
}

function isSupportedBinding(binding: string): boolean {
  return CLIENT_BINDINGS.some((offeredInterface) => offeredInterface === binding);
}

function quoteName({ name }: AgentCard): string {
  return JSON.stringify(name);
}

function formatOfferedInterfaces({ supportedInterfaces }: AgentCard): string {
  const descriptions = supportedInterfaces.map(
    (offeredInterface) => `${offeredInterface.protocolBinding} ${offeredInterface.protocolVersion}`,
  );
  return descriptions.length > 0 ? descriptions.join(", ") : "nothing";
}
