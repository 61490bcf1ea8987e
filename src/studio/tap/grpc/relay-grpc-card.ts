import type { JsonObject } from "../../../protocol/index.ts";
import type { CardRewriter } from "../cards/card-rewriter.ts";
import { isAgentCardJson } from "../cards/rewrite-card-urls.ts";
import { prefixGrpcMessage } from "../frames/grpc-frame-splitter.ts";
import { decodeGrpcFrame, type TappedGrpcMethod } from "./describe-grpc-call.ts";

/** Returns whether the responses of a gRPC method are agent cards. */
export function returnsCard(method: TappedGrpcMethod | undefined): method is TappedGrpcMethod {
  return method?.operation === "GetExtendedAgentCard";
}

/**
 * Directs the interfaces of an agent card to the tap, and returns the response with its prefix. Returns the received
 * bytes if they contain no card that the tap can decode. Fields that the tap does not know are lost.
 */
export async function rewriteGrpcCard(
  received: Buffer,
  method: TappedGrpcMethod,
  {
    cards,
    agentUrl,
    authority,
  }: {
    readonly cards: CardRewriter;
    /** Address of the agent. */
    readonly agentUrl: URL;
    /** Address under which the client reaches the tap. */
    readonly authority: string | undefined;
  },
): Promise<Buffer> {
  const card: JsonObject | undefined = decodeGrpcFrame(method.decodeResponse, received);
  if (!isAgentCardJson(card)) return received;
  const clientHostname = URL.parse(`http://${authority}`)?.hostname ?? "127.0.0.1";
  const rewritten = await cards.rewrite(card, agentUrl, clientHostname);
  return rewritten === card ? received : prefixGrpcMessage(method.encodeResponse(rewritten));
}
