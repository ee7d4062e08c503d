import { describe, expect, test } from 'vitest';
import { UNKNOWN_RECOVERY } from '../../../core/diagnosis/recovery.ts';
import type { Failure } from '../../../core/diagnosis/schema.ts';
import { errorShape, faultsOf, fingerprintsOf } from '../../../core/report-build/fingerprint.ts';
import type { SpanError } from '../../../core/session/session.ts';
import { toTrajectory } from '../../../core/trajectory/to-trajectory.ts';
import { session, tool } from '../../helpers/build-session.ts';

describe('error shape', () => {
  test.each([
    ['Order 4711 not found', 'order 90210 not found'],
    ["No such key 'a b'", 'no such key "other"'],
    [
      'request 7f3e9a10-1111-2222-3333-444455556666 failed',
      'Request 00000000-aaaa-bbbb-cccc-ddddeeeeffff failed',
    ],
    ['timeout after 30.5 s', 'timeout after 31 s'],
    ['token abc123def456 expired', 'token zzz999yyy888 expired'],
  ])('"%s" is "%s"', (a, b) => {
    expect(errorShape(a)).toBe(errorShape(b));
  });

  test('different faults have different shapes', () => {
    expect(errorShape('order 1 not found')).not.toBe(errorShape('order 1 is locked'));
  });

  test.each(['a-'.repeat(50_000), '"'.repeat(100_000), '0'.repeat(100_000), "'x".repeat(50_000)])(
    'hostile input stays short',
    (text) => {
      expect(errorShape(text).length).toBeLessThanOrEqual(160);
    },
  );
});

describe('fingerprints', () => {
  const at = (message: string, toolName = 'get_order', agent = 'shop') => {
    const error: SpanError = { source: 'exception', message };
    const trajectory = toTrajectory(
      session([tool('c', toolName, { id: message }, null, { errors: [error], agent, status: 'error' })]),
    );
    const failure: Failure = {
      span_id: 'span-1',
      category: ['execution-error-category-resource-not-found'],
      confidence: [0.9],
      evidence: [`whatever a model said about ${message}`],
      source: [{ kind: 'model', ref: 'x' }],
      ...UNKNOWN_RECOVERY,
    };
    return fingerprintsOf(faultsOf([failure], [], trajectory, null));
  };

  test('equal for the same fault in another session, whatever the model said', () => {
    expect(at('order 4711 not found')).toEqual(at('order 12 not found'));
    expect(at('order 4711 not found')).toHaveLength(1);
  });

  test('different for another tool, agent or error', () => {
    const all = [
      at('order 1 not found'),
      at('order 1 not found', 'get_user'),
      at('order 1 not found', 'get_order', 'bank'),
      at('denied'),
    ];
    expect(new Set(all.flat()).size).toBe(4);
  });
});
