import { outputRows } from '../../outputs/row.js';

const bytesPerSecond = 50_000;

export const outputSlow = outputRows({
  name: 'output-slow',
  title: 'destination slow: reads 50 kB a second',
  answers: 'the destination reads as fast as before',
  largeMessages: true,
  begin: ({ faulty }) => {
    for (const { stream } of faulty) stream.slow(bytesPerSecond);
  },
  end: ({ faulty }) => {
    for (const { stream } of faulty) stream.resume();
  },
});
