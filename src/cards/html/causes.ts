import type { SeenCard } from "./run-model.ts";

/**
 * What each card came of: a reply of what it replies to, or, when its sender asked others meanwhile, of what they
 * answered; a task of all that its sender had received since it last sent one, so that parallel tasks share their cause.
 * `cards` are of one problem, in the order in which they were sent.
 */
export function causesOf(cards: readonly SeenCard[]): ReadonlyMap<SeenCard, readonly SeenCard[]> {
  const byId = new Map(
    cards.flatMap((seen) =>
      seen.card.metadata.card_id ? [[seen.card.metadata.card_id, seen] as const] : [],
    ),
  );
  const desks = new Map<string, { fresh: SeenCard[]; used: readonly SeenCard[] }>();
  const deskOf = (role: string): { fresh: SeenCard[]; used: readonly SeenCard[] } => {
    let desk = desks.get(role);
    if (!desk) desks.set(role, (desk = { fresh: [], used: [] }));
    return desk;
  };
  const causes = new Map<SeenCard, readonly SeenCard[]>();
  for (const seen of cards) {
    const { sender, recipient, metadata } = seen.card;
    const desk = deskOf(sender);
    const asked = byId.get(metadata.in_reply_to ?? "");
    const isReply = asked !== undefined && asked.card.recipient === sender;
    // Whatever reached the sender between the question and this card, in time to matter.
    const since = isReply
      ? desk.fresh.filter((other) => other !== asked && repliesToOwn(other, sender))
      : desk.fresh;
    const own = isReply && since.length === 0 ? [asked] : since.length > 0 ? since : desk.used;
    causes.set(
      seen,
      own.filter((other) => other !== seen),
    );
    if (own !== desk.used) {
      desk.used = own;
      desk.fresh = desk.fresh.filter((other) => !own.includes(other));
    }
    deskOf(recipient).fresh.push(seen);
  }
  return causes;
}

function repliesToOwn({ card }: SeenCard, sender: string): boolean {
  return card.message_type !== "task" && card.recipient === sender;
}

/** The chain of causes that the last card waited for: at each card, on through the cause that arrived last. */
export function criticalPathOf(
  cards: readonly SeenCard[],
  causes: ReadonlyMap<SeenCard, readonly SeenCard[]> = causesOf(cards),
): SeenCard[] {
  const path: SeenCard[] = [];
  let at = cards.findLast(({ card }) => card.message_type === "result" || card.message_type === "error");
  while (at && !path.includes(at)) {
    path.unshift(at);
    at = causes.get(at)?.toSorted((a, b) => b.arrived - a.arrived)[0];
  }
  return path;
}
