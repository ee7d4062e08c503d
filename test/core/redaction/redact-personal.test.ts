import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactPersonal } from '../../../core/redaction/redact-personal.ts';
import { type Session, sessionSchema, sessionSpans } from '../../../core/session/session.ts';
import { anySession } from '../../helpers/arbitrary-session.ts';
import { message, said, session } from '../../helpers/build-session.ts';

const textsOf = (given: Session): string => JSON.stringify(sessionSpans(given));
const redacted = (...texts: string[]): string =>
  textsOf(redactPersonal(session(texts.map((text) => said(message('user', text))))));

describe('personal data', () => {
  it.each([
    ['an e-mail address', 'ann.o-neil+shop@mail.example.co.uk', 'email'],
    ['a number with its country code', '+44 20 7946 0958', 'phone'],
    ['a number with brackets', '(555) 010-4477', 'phone'],
    ['a card', '4111 1111 1111 1111', 'card'],
    ['a card without gaps', '5555555555554444', 'card'],
    ['an account', 'DE89 3704 0044 0532 0130 00', 'iban'],
    ['a social security number', '078-05-1120', 'ssn'],
  ])('%s is replaced wherever it stands, by what kind it is', (_what, value, kind) => {
    for (const text of [value, `Mine is ${value}.`, `{"contact":"${value}"}`, `(${value}), "${value}"`]) {
      const result = redacted(text);
      expect(result).not.toContain(value);
      expect(result).toContain(`[personal-1 ${kind}]`);
    }
  });

  it.each([
    ['a time in nanoseconds', '1700000000123456789'],
    ['a number that fails the card check', '4111 1111 1111 1112'],
    ['an order number', '#W2611340'],
    ['a date', '2024-05-15'],
    ['an id', '6a74fd19607936851cc91fef1506624f'],
    ['a decorator', '@app.route("/x")'],
    ['a package', 'react@latest'],
    ['a version of a package', 'cdn/gh/icons@3.2.0/data.json'],
    ['a version', '1.2.3-4567'],
  ])('%s is none', (_what, text) =>
    expect(redacted(text)).toBe(textsOf(session([said(message('user', text))]))),
  );

  it('equal data have equal placeholders, different ones do not, so that values can still be compared', () => {
    const result = redacted('a@x.example wrote to b@x.example', 'b@x.example wrote back');
    expect(result).toContain('[personal-1 email] wrote to [personal-2 email]');
    expect(result).toContain('[personal-2 email] wrote back');
  });

  it('JSON text stays JSON, also where a card is a number in it', () => {
    const text =
      '{"card": 5555555555554444, "say": "it is \\"5555555555554444\\", or", "also": [4111111111111111]}';
    const [span] = sessionSpans(redactPersonal(session([said(message('user', text))])));
    const block = span?.kind === 'message' ? span.message.content[0] : undefined;
    expect(JSON.parse(block?.type === 'text' ? block.text : '')).toEqual({
      card: '[personal-1 card]',
      say: 'it is "[personal-1 card]", or',
      also: ['[personal-2 card]'],
    });
  });

  it('a session without any comes back as it is', () => {
    const given = session([said(message('user', 'Two and two?'))]);
    expect(redactPersonal(given)).toBe(given);
  });

  it('any session stays a session, and a second run changes nothing', () => {
    fc.assert(
      fc.property(anySession(), (given) => {
        const once = redactPersonal(given);
        sessionSchema.parse(once);
        expect(redactPersonal(once)).toEqual(once);
        expect(sessionSpans(once).map(({ spanId }) => spanId)).toEqual(
          sessionSpans(given).map(({ spanId }) => spanId),
        );
      }),
    );
  });
});
