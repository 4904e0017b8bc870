// What programs do with the types that openapi-typescript makes of the document.
import type { components, operations, webhooks } from "./aegis";

// A question needs no member, so it may be left out.
type Question = NonNullable<operations["ask_advice"]["requestBody"]>["content"]["application/json"];
type Answer = components["schemas"]["AdviceAnswer"];
type Stale = webhooks["advice.stale"]["post"]["requestBody"]["content"]["application/json"];

export const question: Question = { measure: "mutual_information", require: { k: 5 } };

export function loss(answer: Answer): number | null | undefined {
  // Only the full view has deviations.
  return answer.view === "full" ? answer.deviation : answer.ranking?.[0]?.deviation_share;
}

export const older = (event: Stale): number[] => event.data.versions;

// @ts-expect-error -- there is no such member, so an unknown type would be noticed
export const misspelled: Question = { measure: "g3", attribute: ["age"] };
// @ts-expect-error -- versions are numbers
export const names = (event: Stale): string[] => event.data.versions;
