import * as fc from "fast-check";
import { arbitraryCharacter } from "../../../test/support/arbitrary-character.ts";
import { arbitraryCard } from "../message-card/message-card.fixture.ts";
import type { MessageCard } from "../message-card/index.ts";

/** Characters that no view may output: control characters and characters that change the text direction. */
export const CHARACTERS_FORBIDDEN_IN_VIEW_OUTPUT: RegExp =
  // oxlint-disable-next-line no-control-regex -- The expression matches control characters on purpose.
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** Texts that some viewer interprets as markup or control sequences. */
const arbitraryMarkup = fc.constantFrom(
  "\u001b[2J\u001b[31m",
  "\u009b31m",
  "\u202egnp.exe",
  "\r",
  "\n",
  "\t",
  "\u0000",
  "\uffff",
  "</text><script>alert(1)</script>",
  "</title></svg>",
  "]]>",
  "<!--",
  "<?xml?>",
  '" onload="alert(1)',
  "&lt;",
  "&#x3c;",
  "javascript:alert(1)",
  "어떤 방법",
  "👩‍👩‍👧",
  "e\u0301",
  "│▶",
);

/** Arbitrary texts that contain markup and control sequences. */
export const arbitraryHostileText: fc.Arbitrary<string> = fc
  .array(fc.oneof(arbitraryMarkup, fc.string({ unit: arbitraryCharacter, maxLength: 5 })), { maxLength: 6 })
  .map((texts) => texts.join(""));

/**
 * Arbitrary cards that were not created by `parseCard`. Every text member may be hostile.
 * The cards use few roles, so that they reply to each other.
 */
export const arbitraryHostileCard: fc.Arbitrary<MessageCard> = fc
  .tuple(
    arbitraryCard,
    arbitraryHostileText,
    fc.oneof(fc.constantFrom("planner", "solver"), arbitraryHostileText),
    fc.oneof(fc.constantFrom("planner", "solver"), arbitraryHostileText),
    fc.oneof(fc.constantFrom("task", "result", "query", "error"), arbitraryHostileText),
    arbitraryHostileText,
  )
  .map(([card, content, sender, recipient, message_type, note]) => ({
    ...card,
    content,
    sender,
    recipient,
    message_type,
    metadata: { ...card.metadata, note, error_type: note, options: [note] },
  }));
