import { outputRows } from '../../outputs/row.js';

export const outputHung = outputRows({
  name: 'output-hung',
  title: 'destination hangs: accepts, reads nothing',
  answers: 'the destination reads again',
  largeMessages: true,
  begin: ({ faulty }) => {
    for (const { stream } of faulty) stream.hang();
  },
  end: ({ faulty }) => {
    for (const { stream } of faulty) stream.resume();
  },
});
