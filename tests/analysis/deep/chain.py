import sys
x = 1
if x == 0:
    y = 0
elif x == 1:
    y = 1
elif x == 2:
    y = 2
elif x == 3:
    y = 3
elif x == 4:
    y = 4
elif x == 5:
    y = 5
elif x == 6:
    y = 6
elif x == 7:
    y = 7
elif x == 8:
    y = 8
elif x == 9:
    y = 9
elif x == 10:
    y = 10
elif x == 11:
    y = 11
elif x == 12:
    y = 12
elif x == 13:
    y = 13
elif x == 14:
    y = 14
elif x == 15:
    y = 15
elif x == 16:
    y = 16
elif x == 17:
    y = 17
elif x == 18:
    y = 18
elif x == 19:
    y = 19
elif x == 20:
    y = 20
elif x == 21:
    y = 21
elif x == 22:
    y = 22
elif x == 23:
    y = 23
elif x == 24:
    y = 24
elif x == 25:
    y = 25
elif x == 26:
    y = 26
elif x == 27:
    y = 27
elif x == 28:
    y = 28
elif x == 29:
    y = 29
elif x == 30:
    y = 30
elif x == 31:
    y = 31
elif x == 32:
    y = 32
elif x == 33:
    y = 33
elif x == 34:
    y = 34
elif x == 35:
    y = 35
elif x == 36:
    y = 36
elif x == 37:
    y = 37
elif x == 38:
    y = 38
elif x == 39:
    y = 39
elif x == 40:
    y = 40
elif x == 41:
    y = 41
elif x == 42:
    y = 42
elif x == 43:
    y = 43
elif x == 44:
    y = 44
elif x == 45:
    y = 45
elif x == 46:
    y = 46
elif x == 47:
    y = 47
elif x == 48:
    y = 48
elif x == 49:
    y = 49
elif x == 50:
    y = 50
elif x == 51:
    y = 51
elif x == 52:
    y = 52
elif x == 53:
    y = 53
elif x == 54:
    y = 54
elif x == 55:
    y = 55
elif x == 56:
    y = 56
elif x == 57:
    y = 57
elif x == 58:
    y = 58
elif x == 59:
    y = 59
elif x == 60:
    y = 60
elif x == 61:
    y = 61
elif x == 62:
    y = 62
elif x == 63:
    y = 63
elif x == 64:
    y = 64
elif x == 65:
    y = 65
elif x == 66:
    y = 66
elif x == 67:
    y = 67
elif x == 68:
    y = 68
elif x == 69:
    y = 69
elif x == 70:
    y = 70
elif x == 71:
    y = 71
elif x == 72:
    y = 72
elif x == 73:
    y = 73
elif x == 74:
    y = 74
elif x == 75:
    y = 75
elif x == 76:
    y = 76
elif x == 77:
    y = 77
elif x == 78:
    y = 78
elif x == 79:
    y = 79
elif x == 80:
    y = 80
elif x == 81:
    y = 81
elif x == 82:
    y = 82
elif x == 83:
    y = 83
elif x == 84:
    y = 84
elif x == 85:
    y = 85
elif x == 86:
    y = 86
elif x == 87:
    y = 87
elif x == 88:
    y = 88
elif x == 89:
    y = 89
elif x == 90:
    y = 90
elif x == 91:
    y = 91
elif x == 92:
    y = 92
elif x == 93:
    y = 93
elif x == 94:
    y = 94
elif x == 95:
    y = 95
elif x == 96:
    y = 96
elif x == 97:
    y = 97
elif x == 98:
    y = 98
elif x == 99:
    y = 99
elif x == 100:
    y = 100
elif x == 101:
    y = 101
elif x == 102:
    y = 102
elif x == 103:
    y = 103
elif x == 104:
    y = 104
elif x == 105:
    y = 105
elif x == 106:
    y = 106
elif x == 107:
    y = 107
elif x == 108:
    y = 108
elif x == 109:
    y = 109
elif x == 110:
    y = 110
elif x == 111:
    y = 111
elif x == 112:
    y = 112
elif x == 113:
    y = 113
elif x == 114:
    y = 114
elif x == 115:
    y = 115
elif x == 116:
    y = 116
elif x == 117:
    y = 117
elif x == 118:
    y = 118
elif x == 119:
    y = 119
elif x == 120:
    y = 120
elif x == 121:
    y = 121
elif x == 122:
    y = 122
elif x == 123:
    y = 123
elif x == 124:
    y = 124
elif x == 125:
    y = 125
elif x == 126:
    y = 126
elif x == 127:
    y = 127
elif x == 128:
    y = 128
elif x == 129:
    y = 129
elif x == 130:
    y = 130
elif x == 131:
    y = 131
elif x == 132:
    y = 132
elif x == 133:
    y = 133
elif x == 134:
    y = 134
elif x == 135:
    y = 135
elif x == 136:
    y = 136
elif x == 137:
    y = 137
elif x == 138:
    y = 138
elif x == 139:
    y = 139
elif x == 140:
    y = 140
elif x == 141:
    y = 141
elif x == 142:
    y = 142
elif x == 143:
    y = 143
elif x == 144:
    y = 144
elif x == 145:
    y = 145
elif x == 146:
    y = 146
elif x == 147:
    y = 147
elif x == 148:
    y = 148
elif x == 149:
    y = 149
elif x == 150:
    y = 150
elif x == 151:
    y = 151
elif x == 152:
    y = 152
elif x == 153:
    y = 153
elif x == 154:
    y = 154
elif x == 155:
    y = 155
elif x == 156:
    y = 156
elif x == 157:
    y = 157
elif x == 158:
    y = 158
elif x == 159:
    y = 159
elif x == 160:
    y = 160
elif x == 161:
    y = 161
elif x == 162:
    y = 162
elif x == 163:
    y = 163
elif x == 164:
    y = 164
elif x == 165:
    y = 165
elif x == 166:
    y = 166
elif x == 167:
    y = 167
elif x == 168:
    y = 168
elif x == 169:
    y = 169
elif x == 170:
    y = 170
elif x == 171:
    y = 171
elif x == 172:
    y = 172
elif x == 173:
    y = 173
elif x == 174:
    y = 174
elif x == 175:
    y = 175
elif x == 176:
    y = 176
elif x == 177:
    y = 177
elif x == 178:
    y = 178
elif x == 179:
    y = 179
elif x == 180:
    y = 180
elif x == 181:
    y = 181
elif x == 182:
    y = 182
elif x == 183:
    y = 183
elif x == 184:
    y = 184
elif x == 185:
    y = 185
elif x == 186:
    y = 186
elif x == 187:
    y = 187
elif x == 188:
    y = 188
elif x == 189:
    y = 189
elif x == 190:
    y = 190
elif x == 191:
    y = 191
elif x == 192:
    y = 192
elif x == 193:
    y = 193
elif x == 194:
    y = 194
elif x == 195:
    y = 195
elif x == 196:
    y = 196
elif x == 197:
    y = 197
elif x == 198:
    y = 198
elif x == 199:
    y = 199
elif x == 200:
    y = 200
elif x == 201:
    y = 201
elif x == 202:
    y = 202
elif x == 203:
    y = 203
elif x == 204:
    y = 204
elif x == 205:
    y = 205
elif x == 206:
    y = 206
elif x == 207:
    y = 207
elif x == 208:
    y = 208
elif x == 209:
    y = 209
elif x == 210:
    y = 210
elif x == 211:
    y = 211
elif x == 212:
    y = 212
elif x == 213:
    y = 213
elif x == 214:
    y = 214
elif x == 215:
    y = 215
elif x == 216:
    y = 216
elif x == 217:
    y = 217
elif x == 218:
    y = 218
elif x == 219:
    y = 219
elif x == 220:
    y = 220
elif x == 221:
    y = 221
elif x == 222:
    y = 222
elif x == 223:
    y = 223
elif x == 224:
    y = 224
elif x == 225:
    y = 225
elif x == 226:
    y = 226
elif x == 227:
    y = 227
elif x == 228:
    y = 228
elif x == 229:
    y = 229
elif x == 230:
    y = 230
elif x == 231:
    y = 231
elif x == 232:
    y = 232
elif x == 233:
    y = 233
elif x == 234:
    y = 234
elif x == 235:
    y = 235
elif x == 236:
    y = 236
elif x == 237:
    y = 237
elif x == 238:
    y = 238
elif x == 239:
    y = 239
elif x == 240:
    y = 240
elif x == 241:
    y = 241
elif x == 242:
    y = 242
elif x == 243:
    y = 243
elif x == 244:
    y = 244
elif x == 245:
    y = 245
elif x == 246:
    y = 246
elif x == 247:
    y = 247
elif x == 248:
    y = 248
elif x == 249:
    y = 249
elif x == 250:
    y = 250
elif x == 251:
    y = 251
elif x == 252:
    y = 252
elif x == 253:
    y = 253
elif x == 254:
    y = 254
elif x == 255:
    y = 255
elif x == 256:
    y = 256
elif x == 257:
    y = 257
elif x == 258:
    y = 258
elif x == 259:
    y = 259
elif x == 260:
    y = 260
elif x == 261:
    y = 261
elif x == 262:
    y = 262
elif x == 263:
    y = 263
elif x == 264:
    y = 264
elif x == 265:
    y = 265
elif x == 266:
    y = 266
elif x == 267:
    y = 267
elif x == 268:
    y = 268
elif x == 269:
    y = 269
elif x == 270:
    y = 270
elif x == 271:
    y = 271
elif x == 272:
    y = 272
elif x == 273:
    y = 273
elif x == 274:
    y = 274
elif x == 275:
    y = 275
elif x == 276:
    y = 276
elif x == 277:
    y = 277
elif x == 278:
    y = 278
elif x == 279:
    y = 279
elif x == 280:
    y = 280
elif x == 281:
    y = 281
elif x == 282:
    y = 282
elif x == 283:
    y = 283
elif x == 284:
    y = 284
elif x == 285:
    y = 285
elif x == 286:
    y = 286
elif x == 287:
    y = 287
elif x == 288:
    y = 288
elif x == 289:
    y = 289
elif x == 290:
    y = 290
elif x == 291:
    y = 291
elif x == 292:
    y = 292
elif x == 293:
    y = 293
elif x == 294:
    y = 294
elif x == 295:
    y = 295
elif x == 296:
    y = 296
elif x == 297:
    y = 297
elif x == 298:
    y = 298
elif x == 299:
    y = 299
elif x == 300:
    y = 300
elif x == 301:
    y = 301
elif x == 302:
    y = 302
elif x == 303:
    y = 303
elif x == 304:
    y = 304
elif x == 305:
    y = 305
elif x == 306:
    y = 306
elif x == 307:
    y = 307
elif x == 308:
    y = 308
elif x == 309:
    y = 309
elif x == 310:
    y = 310
elif x == 311:
    y = 311
elif x == 312:
    y = 312
elif x == 313:
    y = 313
elif x == 314:
    y = 314
elif x == 315:
    y = 315
elif x == 316:
    y = 316
elif x == 317:
    y = 317
elif x == 318:
    y = 318
elif x == 319:
    y = 319
elif x == 320:
    y = 320
elif x == 321:
    y = 321
elif x == 322:
    y = 322
elif x == 323:
    y = 323
elif x == 324:
    y = 324
elif x == 325:
    y = 325
elif x == 326:
    y = 326
elif x == 327:
    y = 327
elif x == 328:
    y = 328
elif x == 329:
    y = 329
elif x == 330:
    y = 330
elif x == 331:
    y = 331
elif x == 332:
    y = 332
elif x == 333:
    y = 333
elif x == 334:
    y = 334
elif x == 335:
    y = 335
elif x == 336:
    y = 336
elif x == 337:
    y = 337
elif x == 338:
    y = 338
elif x == 339:
    y = 339
elif x == 340:
    y = 340
elif x == 341:
    y = 341
elif x == 342:
    y = 342
elif x == 343:
    y = 343
elif x == 344:
    y = 344
elif x == 345:
    y = 345
elif x == 346:
    y = 346
elif x == 347:
    y = 347
elif x == 348:
    y = 348
elif x == 349:
    y = 349
elif x == 350:
    y = 350
elif x == 351:
    y = 351
elif x == 352:
    y = 352
elif x == 353:
    y = 353
elif x == 354:
    y = 354
elif x == 355:
    y = 355
elif x == 356:
    y = 356
elif x == 357:
    y = 357
elif x == 358:
    y = 358
elif x == 359:
    y = 359
elif x == 360:
    y = 360
elif x == 361:
    y = 361
elif x == 362:
    y = 362
elif x == 363:
    y = 363
elif x == 364:
    y = 364
elif x == 365:
    y = 365
elif x == 366:
    y = 366
elif x == 367:
    y = 367
elif x == 368:
    y = 368
elif x == 369:
    y = 369
elif x == 370:
    y = 370
elif x == 371:
    y = 371
elif x == 372:
    y = 372
elif x == 373:
    y = 373
elif x == 374:
    y = 374
elif x == 375:
    y = 375
elif x == 376:
    y = 376
elif x == 377:
    y = 377
elif x == 378:
    y = 378
elif x == 379:
    y = 379
elif x == 380:
    y = 380
elif x == 381:
    y = 381
elif x == 382:
    y = 382
elif x == 383:
    y = 383
elif x == 384:
    y = 384
elif x == 385:
    y = 385
elif x == 386:
    y = 386
elif x == 387:
    y = 387
elif x == 388:
    y = 388
elif x == 389:
    y = 389
elif x == 390:
    y = 390
elif x == 391:
    y = 391
elif x == 392:
    y = 392
elif x == 393:
    y = 393
elif x == 394:
    y = 394
elif x == 395:
    y = 395
elif x == 396:
    y = 396
elif x == 397:
    y = 397
elif x == 398:
    y = 398
elif x == 399:
    y = 399
elif x == 400:
    y = 400
elif x == 401:
    y = 401
elif x == 402:
    y = 402
elif x == 403:
    y = 403
elif x == 404:
    y = 404
elif x == 405:
    y = 405
elif x == 406:
    y = 406
elif x == 407:
    y = 407
elif x == 408:
    y = 408
elif x == 409:
    y = 409
elif x == 410:
    y = 410
elif x == 411:
    y = 411
elif x == 412:
    y = 412
elif x == 413:
    y = 413
elif x == 414:
    y = 414
elif x == 415:
    y = 415
elif x == 416:
    y = 416
elif x == 417:
    y = 417
elif x == 418:
    y = 418
elif x == 419:
    y = 419
elif x == 420:
    y = 420
elif x == 421:
    y = 421
elif x == 422:
    y = 422
elif x == 423:
    y = 423
elif x == 424:
    y = 424
elif x == 425:
    y = 425
elif x == 426:
    y = 426
elif x == 427:
    y = 427
elif x == 428:
    y = 428
elif x == 429:
    y = 429
elif x == 430:
    y = 430
elif x == 431:
    y = 431
elif x == 432:
    y = 432
elif x == 433:
    y = 433
elif x == 434:
    y = 434
elif x == 435:
    y = 435
elif x == 436:
    y = 436
elif x == 437:
    y = 437
elif x == 438:
    y = 438
elif x == 439:
    y = 439
elif x == 440:
    y = 440
elif x == 441:
    y = 441
elif x == 442:
    y = 442
elif x == 443:
    y = 443
elif x == 444:
    y = 444
elif x == 445:
    y = 445
elif x == 446:
    y = 446
elif x == 447:
    y = 447
elif x == 448:
    y = 448
elif x == 449:
    y = 449
elif x == 450:
    y = 450
elif x == 451:
    y = 451
elif x == 452:
    y = 452
elif x == 453:
    y = 453
elif x == 454:
    y = 454
elif x == 455:
    y = 455
elif x == 456:
    y = 456
elif x == 457:
    y = 457
elif x == 458:
    y = 458
elif x == 459:
    y = 459
elif x == 460:
    y = 460
elif x == 461:
    y = 461
elif x == 462:
    y = 462
elif x == 463:
    y = 463
elif x == 464:
    y = 464
elif x == 465:
    y = 465
elif x == 466:
    y = 466
elif x == 467:
    y = 467
elif x == 468:
    y = 468
elif x == 469:
    y = 469
elif x == 470:
    y = 470
elif x == 471:
    y = 471
elif x == 472:
    y = 472
elif x == 473:
    y = 473
elif x == 474:
    y = 474
elif x == 475:
    y = 475
elif x == 476:
    y = 476
elif x == 477:
    y = 477
elif x == 478:
    y = 478
elif x == 479:
    y = 479
elif x == 480:
    y = 480
elif x == 481:
    y = 481
elif x == 482:
    y = 482
elif x == 483:
    y = 483
elif x == 484:
    y = 484
elif x == 485:
    y = 485
elif x == 486:
    y = 486
elif x == 487:
    y = 487
elif x == 488:
    y = 488
elif x == 489:
    y = 489
elif x == 490:
    y = 490
elif x == 491:
    y = 491
elif x == 492:
    y = 492
elif x == 493:
    y = 493
elif x == 494:
    y = 494
elif x == 495:
    y = 495
elif x == 496:
    y = 496
elif x == 497:
    y = 497
elif x == 498:
    y = 498
elif x == 499:
    y = 499
elif x == 500:
    y = 500
elif x == 501:
    y = 501
elif x == 502:
    y = 502
elif x == 503:
    y = 503
elif x == 504:
    y = 504
elif x == 505:
    y = 505
elif x == 506:
    y = 506
elif x == 507:
    y = 507
elif x == 508:
    y = 508
elif x == 509:
    y = 509
elif x == 510:
    y = 510
elif x == 511:
    y = 511
elif x == 512:
    y = 512
elif x == 513:
    y = 513
elif x == 514:
    y = 514
elif x == 515:
    y = 515
elif x == 516:
    y = 516
elif x == 517:
    y = 517
elif x == 518:
    y = 518
elif x == 519:
    y = 519
elif x == 520:
    y = 520
elif x == 521:
    y = 521
elif x == 522:
    y = 522
elif x == 523:
    y = 523
elif x == 524:
    y = 524
elif x == 525:
    y = 525
elif x == 526:
    y = 526
elif x == 527:
    y = 527
elif x == 528:
    y = 528
elif x == 529:
    y = 529
elif x == 530:
    y = 530
elif x == 531:
    y = 531
elif x == 532:
    y = 532
elif x == 533:
    y = 533
elif x == 534:
    y = 534
elif x == 535:
    y = 535
elif x == 536:
    y = 536
elif x == 537:
    y = 537
elif x == 538:
    y = 538
elif x == 539:
    y = 539
elif x == 540:
    y = 540
elif x == 541:
    y = 541
elif x == 542:
    y = 542
elif x == 543:
    y = 543
elif x == 544:
    y = 544
elif x == 545:
    y = 545
elif x == 546:
    y = 546
elif x == 547:
    y = 547
elif x == 548:
    y = 548
elif x == 549:
    y = 549
elif x == 550:
    y = 550
elif x == 551:
    y = 551
elif x == 552:
    y = 552
elif x == 553:
    y = 553
elif x == 554:
    y = 554
elif x == 555:
    y = 555
elif x == 556:
    y = 556
elif x == 557:
    y = 557
elif x == 558:
    y = 558
elif x == 559:
    y = 559
elif x == 560:
    y = 560
elif x == 561:
    y = 561
elif x == 562:
    y = 562
elif x == 563:
    y = 563
elif x == 564:
    y = 564
elif x == 565:
    y = 565
elif x == 566:
    y = 566
elif x == 567:
    y = 567
elif x == 568:
    y = 568
elif x == 569:
    y = 569
elif x == 570:
    y = 570
elif x == 571:
    y = 571
elif x == 572:
    y = 572
elif x == 573:
    y = 573
elif x == 574:
    y = 574
elif x == 575:
    y = 575
elif x == 576:
    y = 576
elif x == 577:
    y = 577
elif x == 578:
    y = 578
elif x == 579:
    y = 579
elif x == 580:
    y = 580
elif x == 581:
    y = 581
elif x == 582:
    y = 582
elif x == 583:
    y = 583
elif x == 584:
    y = 584
elif x == 585:
    y = 585
elif x == 586:
    y = 586
elif x == 587:
    y = 587
elif x == 588:
    y = 588
elif x == 589:
    y = 589
elif x == 590:
    y = 590
elif x == 591:
    y = 591
elif x == 592:
    y = 592
elif x == 593:
    y = 593
elif x == 594:
    y = 594
elif x == 595:
    y = 595
elif x == 596:
    y = 596
elif x == 597:
    y = 597
elif x == 598:
    y = 598
elif x == 599:
    y = 599
elif x == 600:
    y = 600
elif x == 601:
    y = 601
elif x == 602:
    y = 602
elif x == 603:
    y = 603
elif x == 604:
    y = 604
elif x == 605:
    y = 605
elif x == 606:
    y = 606
elif x == 607:
    y = 607
elif x == 608:
    y = 608
elif x == 609:
    y = 609
elif x == 610:
    y = 610
elif x == 611:
    y = 611
elif x == 612:
    y = 612
elif x == 613:
    y = 613
elif x == 614:
    y = 614
elif x == 615:
    y = 615
elif x == 616:
    y = 616
elif x == 617:
    y = 617
elif x == 618:
    y = 618
elif x == 619:
    y = 619
elif x == 620:
    y = 620
elif x == 621:
    y = 621
elif x == 622:
    y = 622
elif x == 623:
    y = 623
elif x == 624:
    y = 624
elif x == 625:
    y = 625
elif x == 626:
    y = 626
elif x == 627:
    y = 627
elif x == 628:
    y = 628
elif x == 629:
    y = 629
elif x == 630:
    y = 630
elif x == 631:
    y = 631
elif x == 632:
    y = 632
elif x == 633:
    y = 633
elif x == 634:
    y = 634
elif x == 635:
    y = 635
elif x == 636:
    y = 636
elif x == 637:
    y = 637
elif x == 638:
    y = 638
elif x == 639:
    y = 639
elif x == 640:
    y = 640
elif x == 641:
    y = 641
elif x == 642:
    y = 642
elif x == 643:
    y = 643
elif x == 644:
    y = 644
elif x == 645:
    y = 645
elif x == 646:
    y = 646
elif x == 647:
    y = 647
elif x == 648:
    y = 648
elif x == 649:
    y = 649
elif x == 650:
    y = 650
elif x == 651:
    y = 651
elif x == 652:
    y = 652
elif x == 653:
    y = 653
elif x == 654:
    y = 654
elif x == 655:
    y = 655
elif x == 656:
    y = 656
elif x == 657:
    y = 657
elif x == 658:
    y = 658
elif x == 659:
    y = 659
elif x == 660:
    y = 660
elif x == 661:
    y = 661
elif x == 662:
    y = 662
elif x == 663:
    y = 663
elif x == 664:
    y = 664
elif x == 665:
    y = 665
elif x == 666:
    y = 666
elif x == 667:
    y = 667
elif x == 668:
    y = 668
elif x == 669:
    y = 669
elif x == 670:
    y = 670
elif x == 671:
    y = 671
elif x == 672:
    y = 672
elif x == 673:
    y = 673
elif x == 674:
    y = 674
elif x == 675:
    y = 675
elif x == 676:
    y = 676
elif x == 677:
    y = 677
elif x == 678:
    y = 678
elif x == 679:
    y = 679
elif x == 680:
    y = 680
elif x == 681:
    y = 681
elif x == 682:
    y = 682
elif x == 683:
    y = 683
elif x == 684:
    y = 684
elif x == 685:
    y = 685
elif x == 686:
    y = 686
elif x == 687:
    y = 687
elif x == 688:
    y = 688
elif x == 689:
    y = 689
elif x == 690:
    y = 690
elif x == 691:
    y = 691
elif x == 692:
    y = 692
elif x == 693:
    y = 693
elif x == 694:
    y = 694
elif x == 695:
    y = 695
elif x == 696:
    y = 696
elif x == 697:
    y = 697
elif x == 698:
    y = 698
elif x == 699:
    y = 699
elif x == 700:
    y = 700
elif x == 701:
    y = 701
elif x == 702:
    y = 702
elif x == 703:
    y = 703
elif x == 704:
    y = 704
elif x == 705:
    y = 705
elif x == 706:
    y = 706
elif x == 707:
    y = 707
elif x == 708:
    y = 708
elif x == 709:
    y = 709
elif x == 710:
    y = 710
elif x == 711:
    y = 711
elif x == 712:
    y = 712
elif x == 713:
    y = 713
elif x == 714:
    y = 714
elif x == 715:
    y = 715
elif x == 716:
    y = 716
elif x == 717:
    y = 717
elif x == 718:
    y = 718
elif x == 719:
    y = 719
elif x == 720:
    y = 720
elif x == 721:
    y = 721
elif x == 722:
    y = 722
elif x == 723:
    y = 723
elif x == 724:
    y = 724
elif x == 725:
    y = 725
elif x == 726:
    y = 726
elif x == 727:
    y = 727
elif x == 728:
    y = 728
elif x == 729:
    y = 729
elif x == 730:
    y = 730
elif x == 731:
    y = 731
elif x == 732:
    y = 732
elif x == 733:
    y = 733
elif x == 734:
    y = 734
elif x == 735:
    y = 735
elif x == 736:
    y = 736
elif x == 737:
    y = 737
elif x == 738:
    y = 738
elif x == 739:
    y = 739
elif x == 740:
    y = 740
elif x == 741:
    y = 741
elif x == 742:
    y = 742
elif x == 743:
    y = 743
elif x == 744:
    y = 744
elif x == 745:
    y = 745
elif x == 746:
    y = 746
elif x == 747:
    y = 747
elif x == 748:
    y = 748
elif x == 749:
    y = 749
elif x == 750:
    y = 750
elif x == 751:
    y = 751
elif x == 752:
    y = 752
elif x == 753:
    y = 753
elif x == 754:
    y = 754
elif x == 755:
    y = 755
elif x == 756:
    y = 756
elif x == 757:
    y = 757
elif x == 758:
    y = 758
elif x == 759:
    y = 759
elif x == 760:
    y = 760
elif x == 761:
    y = 761
elif x == 762:
    y = 762
elif x == 763:
    y = 763
elif x == 764:
    y = 764
elif x == 765:
    y = 765
elif x == 766:
    y = 766
elif x == 767:
    y = 767
elif x == 768:
    y = 768
elif x == 769:
    y = 769
elif x == 770:
    y = 770
elif x == 771:
    y = 771
elif x == 772:
    y = 772
elif x == 773:
    y = 773
elif x == 774:
    y = 774
elif x == 775:
    y = 775
elif x == 776:
    y = 776
elif x == 777:
    y = 777
elif x == 778:
    y = 778
elif x == 779:
    y = 779
elif x == 780:
    y = 780
elif x == 781:
    y = 781
elif x == 782:
    y = 782
elif x == 783:
    y = 783
elif x == 784:
    y = 784
elif x == 785:
    y = 785
elif x == 786:
    y = 786
elif x == 787:
    y = 787
elif x == 788:
    y = 788
elif x == 789:
    y = 789
elif x == 790:
    y = 790
elif x == 791:
    y = 791
elif x == 792:
    y = 792
elif x == 793:
    y = 793
elif x == 794:
    y = 794
elif x == 795:
    y = 795
elif x == 796:
    y = 796
elif x == 797:
    y = 797
elif x == 798:
    y = 798
elif x == 799:
    y = 799
elif x == 800:
    y = 800
elif x == 801:
    y = 801
elif x == 802:
    y = 802
elif x == 803:
    y = 803
elif x == 804:
    y = 804
elif x == 805:
    y = 805
elif x == 806:
    y = 806
elif x == 807:
    y = 807
elif x == 808:
    y = 808
elif x == 809:
    y = 809
elif x == 810:
    y = 810
elif x == 811:
    y = 811
elif x == 812:
    y = 812
elif x == 813:
    y = 813
elif x == 814:
    y = 814
elif x == 815:
    y = 815
elif x == 816:
    y = 816
elif x == 817:
    y = 817
elif x == 818:
    y = 818
elif x == 819:
    y = 819
elif x == 820:
    y = 820
elif x == 821:
    y = 821
elif x == 822:
    y = 822
elif x == 823:
    y = 823
elif x == 824:
    y = 824
elif x == 825:
    y = 825
elif x == 826:
    y = 826
elif x == 827:
    y = 827
elif x == 828:
    y = 828
elif x == 829:
    y = 829
elif x == 830:
    y = 830
elif x == 831:
    y = 831
elif x == 832:
    y = 832
elif x == 833:
    y = 833
elif x == 834:
    y = 834
elif x == 835:
    y = 835
elif x == 836:
    y = 836
elif x == 837:
    y = 837
elif x == 838:
    y = 838
elif x == 839:
    y = 839
elif x == 840:
    y = 840
elif x == 841:
    y = 841
elif x == 842:
    y = 842
elif x == 843:
    y = 843
elif x == 844:
    y = 844
elif x == 845:
    y = 845
elif x == 846:
    y = 846
elif x == 847:
    y = 847
elif x == 848:
    y = 848
elif x == 849:
    y = 849
elif x == 850:
    y = 850
elif x == 851:
    y = 851
elif x == 852:
    y = 852
elif x == 853:
    y = 853
elif x == 854:
    y = 854
elif x == 855:
    y = 855
elif x == 856:
    y = 856
elif x == 857:
    y = 857
elif x == 858:
    y = 858
elif x == 859:
    y = 859
elif x == 860:
    y = 860
elif x == 861:
    y = 861
elif x == 862:
    y = 862
elif x == 863:
    y = 863
elif x == 864:
    y = 864
elif x == 865:
    y = 865
elif x == 866:
    y = 866
elif x == 867:
    y = 867
elif x == 868:
    y = 868
elif x == 869:
    y = 869
elif x == 870:
    y = 870
elif x == 871:
    y = 871
elif x == 872:
    y = 872
elif x == 873:
    y = 873
elif x == 874:
    y = 874
elif x == 875:
    y = 875
elif x == 876:
    y = 876
elif x == 877:
    y = 877
elif x == 878:
    y = 878
elif x == 879:
    y = 879
elif x == 880:
    y = 880
elif x == 881:
    y = 881
elif x == 882:
    y = 882
elif x == 883:
    y = 883
elif x == 884:
    y = 884
elif x == 885:
    y = 885
elif x == 886:
    y = 886
elif x == 887:
    y = 887
elif x == 888:
    y = 888
elif x == 889:
    y = 889
elif x == 890:
    y = 890
elif x == 891:
    y = 891
elif x == 892:
    y = 892
elif x == 893:
    y = 893
elif x == 894:
    y = 894
elif x == 895:
    y = 895
elif x == 896:
    y = 896
elif x == 897:
    y = 897
elif x == 898:
    y = 898
elif x == 899:
    y = 899
elif x == 900:
    y = 900
elif x == 901:
    y = 901
elif x == 902:
    y = 902
elif x == 903:
    y = 903
elif x == 904:
    y = 904
elif x == 905:
    y = 905
elif x == 906:
    y = 906
elif x == 907:
    y = 907
elif x == 908:
    y = 908
elif x == 909:
    y = 909
elif x == 910:
    y = 910
elif x == 911:
    y = 911
elif x == 912:
    y = 912
elif x == 913:
    y = 913
elif x == 914:
    y = 914
elif x == 915:
    y = 915
elif x == 916:
    y = 916
elif x == 917:
    y = 917
elif x == 918:
    y = 918
elif x == 919:
    y = 919
elif x == 920:
    y = 920
elif x == 921:
    y = 921
elif x == 922:
    y = 922
elif x == 923:
    y = 923
elif x == 924:
    y = 924
elif x == 925:
    y = 925
elif x == 926:
    y = 926
elif x == 927:
    y = 927
elif x == 928:
    y = 928
elif x == 929:
    y = 929
elif x == 930:
    y = 930
elif x == 931:
    y = 931
elif x == 932:
    y = 932
elif x == 933:
    y = 933
elif x == 934:
    y = 934
elif x == 935:
    y = 935
elif x == 936:
    y = 936
elif x == 937:
    y = 937
elif x == 938:
    y = 938
elif x == 939:
    y = 939
elif x == 940:
    y = 940
elif x == 941:
    y = 941
elif x == 942:
    y = 942
elif x == 943:
    y = 943
elif x == 944:
    y = 944
elif x == 945:
    y = 945
elif x == 946:
    y = 946
elif x == 947:
    y = 947
elif x == 948:
    y = 948
elif x == 949:
    y = 949
elif x == 950:
    y = 950
elif x == 951:
    y = 951
elif x == 952:
    y = 952
elif x == 953:
    y = 953
elif x == 954:
    y = 954
elif x == 955:
    y = 955
elif x == 956:
    y = 956
elif x == 957:
    y = 957
elif x == 958:
    y = 958
elif x == 959:
    y = 959
elif x == 960:
    y = 960
elif x == 961:
    y = 961
elif x == 962:
    y = 962
elif x == 963:
    y = 963
elif x == 964:
    y = 964
elif x == 965:
    y = 965
elif x == 966:
    y = 966
elif x == 967:
    y = 967
elif x == 968:
    y = 968
elif x == 969:
    y = 969
elif x == 970:
    y = 970
elif x == 971:
    y = 971
elif x == 972:
    y = 972
elif x == 973:
    y = 973
elif x == 974:
    y = 974
elif x == 975:
    y = 975
elif x == 976:
    y = 976
elif x == 977:
    y = 977
elif x == 978:
    y = 978
elif x == 979:
    y = 979
elif x == 980:
    y = 980
elif x == 981:
    y = 981
elif x == 982:
    y = 982
elif x == 983:
    y = 983
elif x == 984:
    y = 984
elif x == 985:
    y = 985
elif x == 986:
    y = 986
elif x == 987:
    y = 987
elif x == 988:
    y = 988
elif x == 989:
    y = 989
elif x == 990:
    y = 990
elif x == 991:
    y = 991
elif x == 992:
    y = 992
elif x == 993:
    y = 993
elif x == 994:
    y = 994
elif x == 995:
    y = 995
elif x == 996:
    y = 996
elif x == 997:
    y = 997
elif x == 998:
    y = 998
elif x == 999:
    y = 999
elif x == 1000:
    y = 1000
elif x == 1001:
    y = 1001
elif x == 1002:
    y = 1002
elif x == 1003:
    y = 1003
elif x == 1004:
    y = 1004
elif x == 1005:
    y = 1005
elif x == 1006:
    y = 1006
elif x == 1007:
    y = 1007
elif x == 1008:
    y = 1008
elif x == 1009:
    y = 1009
elif x == 1010:
    y = 1010
elif x == 1011:
    y = 1011
elif x == 1012:
    y = 1012
elif x == 1013:
    y = 1013
elif x == 1014:
    y = 1014
elif x == 1015:
    y = 1015
elif x == 1016:
    y = 1016
elif x == 1017:
    y = 1017
elif x == 1018:
    y = 1018
elif x == 1019:
    y = 1019
elif x == 1020:
    y = 1020
elif x == 1021:
    y = 1021
elif x == 1022:
    y = 1022
elif x == 1023:
    y = 1023
elif x == 1024:
    y = 1024
elif x == 1025:
    y = 1025
elif x == 1026:
    y = 1026
elif x == 1027:
    y = 1027
elif x == 1028:
    y = 1028
elif x == 1029:
    y = 1029
elif x == 1030:
    y = 1030
elif x == 1031:
    y = 1031
elif x == 1032:
    y = 1032
elif x == 1033:
    y = 1033
elif x == 1034:
    y = 1034
elif x == 1035:
    y = 1035
elif x == 1036:
    y = 1036
elif x == 1037:
    y = 1037
elif x == 1038:
    y = 1038
elif x == 1039:
    y = 1039
elif x == 1040:
    y = 1040
elif x == 1041:
    y = 1041
elif x == 1042:
    y = 1042
elif x == 1043:
    y = 1043
elif x == 1044:
    y = 1044
elif x == 1045:
    y = 1045
elif x == 1046:
    y = 1046
elif x == 1047:
    y = 1047
elif x == 1048:
    y = 1048
elif x == 1049:
    y = 1049
elif x == 1050:
    y = 1050
elif x == 1051:
    y = 1051
elif x == 1052:
    y = 1052
elif x == 1053:
    y = 1053
elif x == 1054:
    y = 1054
elif x == 1055:
    y = 1055
elif x == 1056:
    y = 1056
elif x == 1057:
    y = 1057
elif x == 1058:
    y = 1058
elif x == 1059:
    y = 1059
elif x == 1060:
    y = 1060
elif x == 1061:
    y = 1061
elif x == 1062:
    y = 1062
elif x == 1063:
    y = 1063
elif x == 1064:
    y = 1064
elif x == 1065:
    y = 1065
elif x == 1066:
    y = 1066
elif x == 1067:
    y = 1067
elif x == 1068:
    y = 1068
elif x == 1069:
    y = 1069
elif x == 1070:
    y = 1070
elif x == 1071:
    y = 1071
elif x == 1072:
    y = 1072
elif x == 1073:
    y = 1073
elif x == 1074:
    y = 1074
elif x == 1075:
    y = 1075
elif x == 1076:
    y = 1076
elif x == 1077:
    y = 1077
elif x == 1078:
    y = 1078
elif x == 1079:
    y = 1079
elif x == 1080:
    y = 1080
elif x == 1081:
    y = 1081
elif x == 1082:
    y = 1082
elif x == 1083:
    y = 1083
elif x == 1084:
    y = 1084
elif x == 1085:
    y = 1085
elif x == 1086:
    y = 1086
elif x == 1087:
    y = 1087
elif x == 1088:
    y = 1088
elif x == 1089:
    y = 1089
elif x == 1090:
    y = 1090
elif x == 1091:
    y = 1091
elif x == 1092:
    y = 1092
elif x == 1093:
    y = 1093
elif x == 1094:
    y = 1094
elif x == 1095:
    y = 1095
elif x == 1096:
    y = 1096
elif x == 1097:
    y = 1097
elif x == 1098:
    y = 1098
elif x == 1099:
    y = 1099
elif x == 1100:
    y = 1100
elif x == 1101:
    y = 1101
elif x == 1102:
    y = 1102
elif x == 1103:
    y = 1103
elif x == 1104:
    y = 1104
elif x == 1105:
    y = 1105
elif x == 1106:
    y = 1106
elif x == 1107:
    y = 1107
elif x == 1108:
    y = 1108
elif x == 1109:
    y = 1109
elif x == 1110:
    y = 1110
elif x == 1111:
    y = 1111
elif x == 1112:
    y = 1112
elif x == 1113:
    y = 1113
elif x == 1114:
    y = 1114
elif x == 1115:
    y = 1115
elif x == 1116:
    y = 1116
elif x == 1117:
    y = 1117
elif x == 1118:
    y = 1118
elif x == 1119:
    y = 1119
elif x == 1120:
    y = 1120
elif x == 1121:
    y = 1121
elif x == 1122:
    y = 1122
elif x == 1123:
    y = 1123
elif x == 1124:
    y = 1124
elif x == 1125:
    y = 1125
elif x == 1126:
    y = 1126
elif x == 1127:
    y = 1127
elif x == 1128:
    y = 1128
elif x == 1129:
    y = 1129
elif x == 1130:
    y = 1130
elif x == 1131:
    y = 1131
elif x == 1132:
    y = 1132
elif x == 1133:
    y = 1133
elif x == 1134:
    y = 1134
elif x == 1135:
    y = 1135
elif x == 1136:
    y = 1136
elif x == 1137:
    y = 1137
elif x == 1138:
    y = 1138
elif x == 1139:
    y = 1139
elif x == 1140:
    y = 1140
elif x == 1141:
    y = 1141
elif x == 1142:
    y = 1142
elif x == 1143:
    y = 1143
elif x == 1144:
    y = 1144
elif x == 1145:
    y = 1145
elif x == 1146:
    y = 1146
elif x == 1147:
    y = 1147
elif x == 1148:
    y = 1148
elif x == 1149:
    y = 1149
elif x == 1150:
    y = 1150
elif x == 1151:
    y = 1151
elif x == 1152:
    y = 1152
elif x == 1153:
    y = 1153
elif x == 1154:
    y = 1154
elif x == 1155:
    y = 1155
elif x == 1156:
    y = 1156
elif x == 1157:
    y = 1157
elif x == 1158:
    y = 1158
elif x == 1159:
    y = 1159
elif x == 1160:
    y = 1160
elif x == 1161:
    y = 1161
elif x == 1162:
    y = 1162
elif x == 1163:
    y = 1163
elif x == 1164:
    y = 1164
elif x == 1165:
    y = 1165
elif x == 1166:
    y = 1166
elif x == 1167:
    y = 1167
elif x == 1168:
    y = 1168
elif x == 1169:
    y = 1169
elif x == 1170:
    y = 1170
elif x == 1171:
    y = 1171
elif x == 1172:
    y = 1172
elif x == 1173:
    y = 1173
elif x == 1174:
    y = 1174
elif x == 1175:
    y = 1175
elif x == 1176:
    y = 1176
elif x == 1177:
    y = 1177
elif x == 1178:
    y = 1178
elif x == 1179:
    y = 1179
elif x == 1180:
    y = 1180
elif x == 1181:
    y = 1181
elif x == 1182:
    y = 1182
elif x == 1183:
    y = 1183
elif x == 1184:
    y = 1184
elif x == 1185:
    y = 1185
elif x == 1186:
    y = 1186
elif x == 1187:
    y = 1187
elif x == 1188:
    y = 1188
elif x == 1189:
    y = 1189
elif x == 1190:
    y = 1190
elif x == 1191:
    y = 1191
elif x == 1192:
    y = 1192
elif x == 1193:
    y = 1193
elif x == 1194:
    y = 1194
elif x == 1195:
    y = 1195
elif x == 1196:
    y = 1196
elif x == 1197:
    y = 1197
elif x == 1198:
    y = 1198
elif x == 1199:
    y = 1199
elif x == 1200:
    y = 1200
elif x == 1201:
    y = 1201
elif x == 1202:
    y = 1202
elif x == 1203:
    y = 1203
elif x == 1204:
    y = 1204
elif x == 1205:
    y = 1205
elif x == 1206:
    y = 1206
elif x == 1207:
    y = 1207
elif x == 1208:
    y = 1208
elif x == 1209:
    y = 1209
elif x == 1210:
    y = 1210
elif x == 1211:
    y = 1211
elif x == 1212:
    y = 1212
elif x == 1213:
    y = 1213
elif x == 1214:
    y = 1214
elif x == 1215:
    y = 1215
elif x == 1216:
    y = 1216
elif x == 1217:
    y = 1217
elif x == 1218:
    y = 1218
elif x == 1219:
    y = 1219
elif x == 1220:
    y = 1220
elif x == 1221:
    y = 1221
elif x == 1222:
    y = 1222
elif x == 1223:
    y = 1223
elif x == 1224:
    y = 1224
elif x == 1225:
    y = 1225
elif x == 1226:
    y = 1226
elif x == 1227:
    y = 1227
elif x == 1228:
    y = 1228
elif x == 1229:
    y = 1229
elif x == 1230:
    y = 1230
elif x == 1231:
    y = 1231
elif x == 1232:
    y = 1232
elif x == 1233:
    y = 1233
elif x == 1234:
    y = 1234
elif x == 1235:
    y = 1235
elif x == 1236:
    y = 1236
elif x == 1237:
    y = 1237
elif x == 1238:
    y = 1238
elif x == 1239:
    y = 1239
elif x == 1240:
    y = 1240
elif x == 1241:
    y = 1241
elif x == 1242:
    y = 1242
elif x == 1243:
    y = 1243
elif x == 1244:
    y = 1244
elif x == 1245:
    y = 1245
elif x == 1246:
    y = 1246
elif x == 1247:
    y = 1247
elif x == 1248:
    y = 1248
elif x == 1249:
    y = 1249
elif x == 1250:
    y = 1250
elif x == 1251:
    y = 1251
elif x == 1252:
    y = 1252
elif x == 1253:
    y = 1253
elif x == 1254:
    y = 1254
elif x == 1255:
    y = 1255
elif x == 1256:
    y = 1256
elif x == 1257:
    y = 1257
elif x == 1258:
    y = 1258
elif x == 1259:
    y = 1259
elif x == 1260:
    y = 1260
elif x == 1261:
    y = 1261
elif x == 1262:
    y = 1262
elif x == 1263:
    y = 1263
elif x == 1264:
    y = 1264
elif x == 1265:
    y = 1265
elif x == 1266:
    y = 1266
elif x == 1267:
    y = 1267
elif x == 1268:
    y = 1268
elif x == 1269:
    y = 1269
elif x == 1270:
    y = 1270
elif x == 1271:
    y = 1271
elif x == 1272:
    y = 1272
elif x == 1273:
    y = 1273
elif x == 1274:
    y = 1274
elif x == 1275:
    y = 1275
elif x == 1276:
    y = 1276
elif x == 1277:
    y = 1277
elif x == 1278:
    y = 1278
elif x == 1279:
    y = 1279
elif x == 1280:
    y = 1280
elif x == 1281:
    y = 1281
elif x == 1282:
    y = 1282
elif x == 1283:
    y = 1283
elif x == 1284:
    y = 1284
elif x == 1285:
    y = 1285
elif x == 1286:
    y = 1286
elif x == 1287:
    y = 1287
elif x == 1288:
    y = 1288
elif x == 1289:
    y = 1289
elif x == 1290:
    y = 1290
elif x == 1291:
    y = 1291
elif x == 1292:
    y = 1292
elif x == 1293:
    y = 1293
elif x == 1294:
    y = 1294
elif x == 1295:
    y = 1295
elif x == 1296:
    y = 1296
elif x == 1297:
    y = 1297
elif x == 1298:
    y = 1298
elif x == 1299:
    y = 1299
elif x == 1300:
    y = 1300
elif x == 1301:
    y = 1301
elif x == 1302:
    y = 1302
elif x == 1303:
    y = 1303
elif x == 1304:
    y = 1304
elif x == 1305:
    y = 1305
elif x == 1306:
    y = 1306
elif x == 1307:
    y = 1307
elif x == 1308:
    y = 1308
elif x == 1309:
    y = 1309
elif x == 1310:
    y = 1310
elif x == 1311:
    y = 1311
elif x == 1312:
    y = 1312
elif x == 1313:
    y = 1313
elif x == 1314:
    y = 1314
elif x == 1315:
    y = 1315
elif x == 1316:
    y = 1316
elif x == 1317:
    y = 1317
elif x == 1318:
    y = 1318
elif x == 1319:
    y = 1319
elif x == 1320:
    y = 1320
elif x == 1321:
    y = 1321
elif x == 1322:
    y = 1322
elif x == 1323:
    y = 1323
elif x == 1324:
    y = 1324
elif x == 1325:
    y = 1325
elif x == 1326:
    y = 1326
elif x == 1327:
    y = 1327
elif x == 1328:
    y = 1328
elif x == 1329:
    y = 1329
elif x == 1330:
    y = 1330
elif x == 1331:
    y = 1331
elif x == 1332:
    y = 1332
elif x == 1333:
    y = 1333
elif x == 1334:
    y = 1334
elif x == 1335:
    y = 1335
elif x == 1336:
    y = 1336
elif x == 1337:
    y = 1337
elif x == 1338:
    y = 1338
elif x == 1339:
    y = 1339
elif x == 1340:
    y = 1340
elif x == 1341:
    y = 1341
elif x == 1342:
    y = 1342
elif x == 1343:
    y = 1343
elif x == 1344:
    y = 1344
elif x == 1345:
    y = 1345
elif x == 1346:
    y = 1346
elif x == 1347:
    y = 1347
elif x == 1348:
    y = 1348
elif x == 1349:
    y = 1349
elif x == 1350:
    y = 1350
elif x == 1351:
    y = 1351
elif x == 1352:
    y = 1352
elif x == 1353:
    y = 1353
elif x == 1354:
    y = 1354
elif x == 1355:
    y = 1355
elif x == 1356:
    y = 1356
elif x == 1357:
    y = 1357
elif x == 1358:
    y = 1358
elif x == 1359:
    y = 1359
elif x == 1360:
    y = 1360
elif x == 1361:
    y = 1361
elif x == 1362:
    y = 1362
elif x == 1363:
    y = 1363
elif x == 1364:
    y = 1364
elif x == 1365:
    y = 1365
elif x == 1366:
    y = 1366
elif x == 1367:
    y = 1367
elif x == 1368:
    y = 1368
elif x == 1369:
    y = 1369
elif x == 1370:
    y = 1370
elif x == 1371:
    y = 1371
elif x == 1372:
    y = 1372
elif x == 1373:
    y = 1373
elif x == 1374:
    y = 1374
elif x == 1375:
    y = 1375
elif x == 1376:
    y = 1376
elif x == 1377:
    y = 1377
elif x == 1378:
    y = 1378
elif x == 1379:
    y = 1379
elif x == 1380:
    y = 1380
elif x == 1381:
    y = 1381
elif x == 1382:
    y = 1382
elif x == 1383:
    y = 1383
elif x == 1384:
    y = 1384
elif x == 1385:
    y = 1385
elif x == 1386:
    y = 1386
elif x == 1387:
    y = 1387
elif x == 1388:
    y = 1388
elif x == 1389:
    y = 1389
elif x == 1390:
    y = 1390
elif x == 1391:
    y = 1391
elif x == 1392:
    y = 1392
elif x == 1393:
    y = 1393
elif x == 1394:
    y = 1394
elif x == 1395:
    y = 1395
elif x == 1396:
    y = 1396
elif x == 1397:
    y = 1397
elif x == 1398:
    y = 1398
elif x == 1399:
    y = 1399
elif x == 1400:
    y = 1400
elif x == 1401:
    y = 1401
elif x == 1402:
    y = 1402
elif x == 1403:
    y = 1403
elif x == 1404:
    y = 1404
elif x == 1405:
    y = 1405
elif x == 1406:
    y = 1406
elif x == 1407:
    y = 1407
elif x == 1408:
    y = 1408
elif x == 1409:
    y = 1409
elif x == 1410:
    y = 1410
elif x == 1411:
    y = 1411
elif x == 1412:
    y = 1412
elif x == 1413:
    y = 1413
elif x == 1414:
    y = 1414
elif x == 1415:
    y = 1415
elif x == 1416:
    y = 1416
elif x == 1417:
    y = 1417
elif x == 1418:
    y = 1418
elif x == 1419:
    y = 1419
elif x == 1420:
    y = 1420
elif x == 1421:
    y = 1421
elif x == 1422:
    y = 1422
elif x == 1423:
    y = 1423
elif x == 1424:
    y = 1424
elif x == 1425:
    y = 1425
elif x == 1426:
    y = 1426
elif x == 1427:
    y = 1427
elif x == 1428:
    y = 1428
elif x == 1429:
    y = 1429
elif x == 1430:
    y = 1430
elif x == 1431:
    y = 1431
elif x == 1432:
    y = 1432
elif x == 1433:
    y = 1433
elif x == 1434:
    y = 1434
elif x == 1435:
    y = 1435
elif x == 1436:
    y = 1436
elif x == 1437:
    y = 1437
elif x == 1438:
    y = 1438
elif x == 1439:
    y = 1439
elif x == 1440:
    y = 1440
elif x == 1441:
    y = 1441
elif x == 1442:
    y = 1442
elif x == 1443:
    y = 1443
elif x == 1444:
    y = 1444
elif x == 1445:
    y = 1445
elif x == 1446:
    y = 1446
elif x == 1447:
    y = 1447
elif x == 1448:
    y = 1448
elif x == 1449:
    y = 1449
elif x == 1450:
    y = 1450
elif x == 1451:
    y = 1451
elif x == 1452:
    y = 1452
elif x == 1453:
    y = 1453
elif x == 1454:
    y = 1454
elif x == 1455:
    y = 1455
elif x == 1456:
    y = 1456
elif x == 1457:
    y = 1457
elif x == 1458:
    y = 1458
elif x == 1459:
    y = 1459
elif x == 1460:
    y = 1460
elif x == 1461:
    y = 1461
elif x == 1462:
    y = 1462
elif x == 1463:
    y = 1463
elif x == 1464:
    y = 1464
elif x == 1465:
    y = 1465
elif x == 1466:
    y = 1466
elif x == 1467:
    y = 1467
elif x == 1468:
    y = 1468
elif x == 1469:
    y = 1469
elif x == 1470:
    y = 1470
elif x == 1471:
    y = 1471
elif x == 1472:
    y = 1472
elif x == 1473:
    y = 1473
elif x == 1474:
    y = 1474
elif x == 1475:
    y = 1475
elif x == 1476:
    y = 1476
elif x == 1477:
    y = 1477
elif x == 1478:
    y = 1478
elif x == 1479:
    y = 1479
elif x == 1480:
    y = 1480
elif x == 1481:
    y = 1481
elif x == 1482:
    y = 1482
elif x == 1483:
    y = 1483
elif x == 1484:
    y = 1484
elif x == 1485:
    y = 1485
elif x == 1486:
    y = 1486
elif x == 1487:
    y = 1487
elif x == 1488:
    y = 1488
elif x == 1489:
    y = 1489
elif x == 1490:
    y = 1490
elif x == 1491:
    y = 1491
elif x == 1492:
    y = 1492
elif x == 1493:
    y = 1493
elif x == 1494:
    y = 1494
elif x == 1495:
    y = 1495
elif x == 1496:
    y = 1496
elif x == 1497:
    y = 1497
elif x == 1498:
    y = 1498
elif x == 1499:
    y = 1499
elif x == 1500:
    y = 1500
elif x == 1501:
    y = 1501
elif x == 1502:
    y = 1502
elif x == 1503:
    y = 1503
elif x == 1504:
    y = 1504
elif x == 1505:
    y = 1505
elif x == 1506:
    y = 1506
elif x == 1507:
    y = 1507
elif x == 1508:
    y = 1508
elif x == 1509:
    y = 1509
elif x == 1510:
    y = 1510
elif x == 1511:
    y = 1511
elif x == 1512:
    y = 1512
elif x == 1513:
    y = 1513
elif x == 1514:
    y = 1514
elif x == 1515:
    y = 1515
elif x == 1516:
    y = 1516
elif x == 1517:
    y = 1517
elif x == 1518:
    y = 1518
elif x == 1519:
    y = 1519
elif x == 1520:
    y = 1520
elif x == 1521:
    y = 1521
elif x == 1522:
    y = 1522
elif x == 1523:
    y = 1523
elif x == 1524:
    y = 1524
elif x == 1525:
    y = 1525
elif x == 1526:
    y = 1526
elif x == 1527:
    y = 1527
elif x == 1528:
    y = 1528
elif x == 1529:
    y = 1529
elif x == 1530:
    y = 1530
elif x == 1531:
    y = 1531
elif x == 1532:
    y = 1532
elif x == 1533:
    y = 1533
elif x == 1534:
    y = 1534
elif x == 1535:
    y = 1535
elif x == 1536:
    y = 1536
elif x == 1537:
    y = 1537
elif x == 1538:
    y = 1538
elif x == 1539:
    y = 1539
elif x == 1540:
    y = 1540
elif x == 1541:
    y = 1541
elif x == 1542:
    y = 1542
elif x == 1543:
    y = 1543
elif x == 1544:
    y = 1544
elif x == 1545:
    y = 1545
elif x == 1546:
    y = 1546
elif x == 1547:
    y = 1547
elif x == 1548:
    y = 1548
elif x == 1549:
    y = 1549
elif x == 1550:
    y = 1550
elif x == 1551:
    y = 1551
elif x == 1552:
    y = 1552
elif x == 1553:
    y = 1553
elif x == 1554:
    y = 1554
elif x == 1555:
    y = 1555
elif x == 1556:
    y = 1556
elif x == 1557:
    y = 1557
elif x == 1558:
    y = 1558
elif x == 1559:
    y = 1559
elif x == 1560:
    y = 1560
elif x == 1561:
    y = 1561
elif x == 1562:
    y = 1562
elif x == 1563:
    y = 1563
elif x == 1564:
    y = 1564
elif x == 1565:
    y = 1565
elif x == 1566:
    y = 1566
elif x == 1567:
    y = 1567
elif x == 1568:
    y = 1568
elif x == 1569:
    y = 1569
elif x == 1570:
    y = 1570
elif x == 1571:
    y = 1571
elif x == 1572:
    y = 1572
elif x == 1573:
    y = 1573
elif x == 1574:
    y = 1574
elif x == 1575:
    y = 1575
elif x == 1576:
    y = 1576
elif x == 1577:
    y = 1577
elif x == 1578:
    y = 1578
elif x == 1579:
    y = 1579
elif x == 1580:
    y = 1580
elif x == 1581:
    y = 1581
elif x == 1582:
    y = 1582
elif x == 1583:
    y = 1583
elif x == 1584:
    y = 1584
elif x == 1585:
    y = 1585
elif x == 1586:
    y = 1586
elif x == 1587:
    y = 1587
elif x == 1588:
    y = 1588
elif x == 1589:
    y = 1589
elif x == 1590:
    y = 1590
elif x == 1591:
    y = 1591
elif x == 1592:
    y = 1592
elif x == 1593:
    y = 1593
elif x == 1594:
    y = 1594
elif x == 1595:
    y = 1595
elif x == 1596:
    y = 1596
elif x == 1597:
    y = 1597
elif x == 1598:
    y = 1598
elif x == 1599:
    y = 1599
elif x == 1600:
    y = 1600
elif x == 1601:
    y = 1601
elif x == 1602:
    y = 1602
elif x == 1603:
    y = 1603
elif x == 1604:
    y = 1604
elif x == 1605:
    y = 1605
elif x == 1606:
    y = 1606
elif x == 1607:
    y = 1607
elif x == 1608:
    y = 1608
elif x == 1609:
    y = 1609
elif x == 1610:
    y = 1610
elif x == 1611:
    y = 1611
elif x == 1612:
    y = 1612
elif x == 1613:
    y = 1613
elif x == 1614:
    y = 1614
elif x == 1615:
    y = 1615
elif x == 1616:
    y = 1616
elif x == 1617:
    y = 1617
elif x == 1618:
    y = 1618
elif x == 1619:
    y = 1619
elif x == 1620:
    y = 1620
elif x == 1621:
    y = 1621
elif x == 1622:
    y = 1622
elif x == 1623:
    y = 1623
elif x == 1624:
    y = 1624
elif x == 1625:
    y = 1625
elif x == 1626:
    y = 1626
elif x == 1627:
    y = 1627
elif x == 1628:
    y = 1628
elif x == 1629:
    y = 1629
elif x == 1630:
    y = 1630
elif x == 1631:
    y = 1631
elif x == 1632:
    y = 1632
elif x == 1633:
    y = 1633
elif x == 1634:
    y = 1634
elif x == 1635:
    y = 1635
elif x == 1636:
    y = 1636
elif x == 1637:
    y = 1637
elif x == 1638:
    y = 1638
elif x == 1639:
    y = 1639
elif x == 1640:
    y = 1640
elif x == 1641:
    y = 1641
elif x == 1642:
    y = 1642
elif x == 1643:
    y = 1643
elif x == 1644:
    y = 1644
elif x == 1645:
    y = 1645
elif x == 1646:
    y = 1646
elif x == 1647:
    y = 1647
elif x == 1648:
    y = 1648
elif x == 1649:
    y = 1649
elif x == 1650:
    y = 1650
elif x == 1651:
    y = 1651
elif x == 1652:
    y = 1652
elif x == 1653:
    y = 1653
elif x == 1654:
    y = 1654
elif x == 1655:
    y = 1655
elif x == 1656:
    y = 1656
elif x == 1657:
    y = 1657
elif x == 1658:
    y = 1658
elif x == 1659:
    y = 1659
elif x == 1660:
    y = 1660
elif x == 1661:
    y = 1661
elif x == 1662:
    y = 1662
elif x == 1663:
    y = 1663
elif x == 1664:
    y = 1664
elif x == 1665:
    y = 1665
elif x == 1666:
    y = 1666
elif x == 1667:
    y = 1667
elif x == 1668:
    y = 1668
elif x == 1669:
    y = 1669
elif x == 1670:
    y = 1670
elif x == 1671:
    y = 1671
elif x == 1672:
    y = 1672
elif x == 1673:
    y = 1673
elif x == 1674:
    y = 1674
elif x == 1675:
    y = 1675
elif x == 1676:
    y = 1676
elif x == 1677:
    y = 1677
elif x == 1678:
    y = 1678
elif x == 1679:
    y = 1679
elif x == 1680:
    y = 1680
elif x == 1681:
    y = 1681
elif x == 1682:
    y = 1682
elif x == 1683:
    y = 1683
elif x == 1684:
    y = 1684
elif x == 1685:
    y = 1685
elif x == 1686:
    y = 1686
elif x == 1687:
    y = 1687
elif x == 1688:
    y = 1688
elif x == 1689:
    y = 1689
elif x == 1690:
    y = 1690
elif x == 1691:
    y = 1691
elif x == 1692:
    y = 1692
elif x == 1693:
    y = 1693
elif x == 1694:
    y = 1694
elif x == 1695:
    y = 1695
elif x == 1696:
    y = 1696
elif x == 1697:
    y = 1697
elif x == 1698:
    y = 1698
elif x == 1699:
    y = 1699
elif x == 1700:
    y = 1700
elif x == 1701:
    y = 1701
elif x == 1702:
    y = 1702
elif x == 1703:
    y = 1703
elif x == 1704:
    y = 1704
elif x == 1705:
    y = 1705
elif x == 1706:
    y = 1706
elif x == 1707:
    y = 1707
elif x == 1708:
    y = 1708
elif x == 1709:
    y = 1709
elif x == 1710:
    y = 1710
elif x == 1711:
    y = 1711
elif x == 1712:
    y = 1712
elif x == 1713:
    y = 1713
elif x == 1714:
    y = 1714
elif x == 1715:
    y = 1715
elif x == 1716:
    y = 1716
elif x == 1717:
    y = 1717
elif x == 1718:
    y = 1718
elif x == 1719:
    y = 1719
elif x == 1720:
    y = 1720
elif x == 1721:
    y = 1721
elif x == 1722:
    y = 1722
elif x == 1723:
    y = 1723
elif x == 1724:
    y = 1724
elif x == 1725:
    y = 1725
elif x == 1726:
    y = 1726
elif x == 1727:
    y = 1727
elif x == 1728:
    y = 1728
elif x == 1729:
    y = 1729
elif x == 1730:
    y = 1730
elif x == 1731:
    y = 1731
elif x == 1732:
    y = 1732
elif x == 1733:
    y = 1733
elif x == 1734:
    y = 1734
elif x == 1735:
    y = 1735
elif x == 1736:
    y = 1736
elif x == 1737:
    y = 1737
elif x == 1738:
    y = 1738
elif x == 1739:
    y = 1739
elif x == 1740:
    y = 1740
elif x == 1741:
    y = 1741
elif x == 1742:
    y = 1742
elif x == 1743:
    y = 1743
elif x == 1744:
    y = 1744
elif x == 1745:
    y = 1745
elif x == 1746:
    y = 1746
elif x == 1747:
    y = 1747
elif x == 1748:
    y = 1748
elif x == 1749:
    y = 1749
elif x == 1750:
    y = 1750
elif x == 1751:
    y = 1751
elif x == 1752:
    y = 1752
elif x == 1753:
    y = 1753
elif x == 1754:
    y = 1754
elif x == 1755:
    y = 1755
elif x == 1756:
    y = 1756
elif x == 1757:
    y = 1757
elif x == 1758:
    y = 1758
elif x == 1759:
    y = 1759
elif x == 1760:
    y = 1760
elif x == 1761:
    y = 1761
elif x == 1762:
    y = 1762
elif x == 1763:
    y = 1763
elif x == 1764:
    y = 1764
elif x == 1765:
    y = 1765
elif x == 1766:
    y = 1766
elif x == 1767:
    y = 1767
elif x == 1768:
    y = 1768
elif x == 1769:
    y = 1769
elif x == 1770:
    y = 1770
elif x == 1771:
    y = 1771
elif x == 1772:
    y = 1772
elif x == 1773:
    y = 1773
elif x == 1774:
    y = 1774
elif x == 1775:
    y = 1775
elif x == 1776:
    y = 1776
elif x == 1777:
    y = 1777
elif x == 1778:
    y = 1778
elif x == 1779:
    y = 1779
elif x == 1780:
    y = 1780
elif x == 1781:
    y = 1781
elif x == 1782:
    y = 1782
elif x == 1783:
    y = 1783
elif x == 1784:
    y = 1784
elif x == 1785:
    y = 1785
elif x == 1786:
    y = 1786
elif x == 1787:
    y = 1787
elif x == 1788:
    y = 1788
elif x == 1789:
    y = 1789
elif x == 1790:
    y = 1790
elif x == 1791:
    y = 1791
elif x == 1792:
    y = 1792
elif x == 1793:
    y = 1793
elif x == 1794:
    y = 1794
elif x == 1795:
    y = 1795
elif x == 1796:
    y = 1796
elif x == 1797:
    y = 1797
elif x == 1798:
    y = 1798
elif x == 1799:
    y = 1799
elif x == 1800:
    y = 1800
elif x == 1801:
    y = 1801
elif x == 1802:
    y = 1802
elif x == 1803:
    y = 1803
elif x == 1804:
    y = 1804
elif x == 1805:
    y = 1805
elif x == 1806:
    y = 1806
elif x == 1807:
    y = 1807
elif x == 1808:
    y = 1808
elif x == 1809:
    y = 1809
elif x == 1810:
    y = 1810
elif x == 1811:
    y = 1811
elif x == 1812:
    y = 1812
elif x == 1813:
    y = 1813
elif x == 1814:
    y = 1814
elif x == 1815:
    y = 1815
elif x == 1816:
    y = 1816
elif x == 1817:
    y = 1817
elif x == 1818:
    y = 1818
elif x == 1819:
    y = 1819
elif x == 1820:
    y = 1820
elif x == 1821:
    y = 1821
elif x == 1822:
    y = 1822
elif x == 1823:
    y = 1823
elif x == 1824:
    y = 1824
elif x == 1825:
    y = 1825
elif x == 1826:
    y = 1826
elif x == 1827:
    y = 1827
elif x == 1828:
    y = 1828
elif x == 1829:
    y = 1829
elif x == 1830:
    y = 1830
elif x == 1831:
    y = 1831
elif x == 1832:
    y = 1832
elif x == 1833:
    y = 1833
elif x == 1834:
    y = 1834
elif x == 1835:
    y = 1835
elif x == 1836:
    y = 1836
elif x == 1837:
    y = 1837
elif x == 1838:
    y = 1838
elif x == 1839:
    y = 1839
elif x == 1840:
    y = 1840
elif x == 1841:
    y = 1841
elif x == 1842:
    y = 1842
elif x == 1843:
    y = 1843
elif x == 1844:
    y = 1844
elif x == 1845:
    y = 1845
elif x == 1846:
    y = 1846
elif x == 1847:
    y = 1847
elif x == 1848:
    y = 1848
elif x == 1849:
    y = 1849
elif x == 1850:
    y = 1850
elif x == 1851:
    y = 1851
elif x == 1852:
    y = 1852
elif x == 1853:
    y = 1853
elif x == 1854:
    y = 1854
elif x == 1855:
    y = 1855
elif x == 1856:
    y = 1856
elif x == 1857:
    y = 1857
elif x == 1858:
    y = 1858
elif x == 1859:
    y = 1859
elif x == 1860:
    y = 1860
elif x == 1861:
    y = 1861
elif x == 1862:
    y = 1862
elif x == 1863:
    y = 1863
elif x == 1864:
    y = 1864
elif x == 1865:
    y = 1865
elif x == 1866:
    y = 1866
elif x == 1867:
    y = 1867
elif x == 1868:
    y = 1868
elif x == 1869:
    y = 1869
elif x == 1870:
    y = 1870
elif x == 1871:
    y = 1871
elif x == 1872:
    y = 1872
elif x == 1873:
    y = 1873
elif x == 1874:
    y = 1874
elif x == 1875:
    y = 1875
elif x == 1876:
    y = 1876
elif x == 1877:
    y = 1877
elif x == 1878:
    y = 1878
elif x == 1879:
    y = 1879
elif x == 1880:
    y = 1880
elif x == 1881:
    y = 1881
elif x == 1882:
    y = 1882
elif x == 1883:
    y = 1883
elif x == 1884:
    y = 1884
elif x == 1885:
    y = 1885
elif x == 1886:
    y = 1886
elif x == 1887:
    y = 1887
elif x == 1888:
    y = 1888
elif x == 1889:
    y = 1889
elif x == 1890:
    y = 1890
elif x == 1891:
    y = 1891
elif x == 1892:
    y = 1892
elif x == 1893:
    y = 1893
elif x == 1894:
    y = 1894
elif x == 1895:
    y = 1895
elif x == 1896:
    y = 1896
elif x == 1897:
    y = 1897
elif x == 1898:
    y = 1898
elif x == 1899:
    y = 1899
elif x == 1900:
    y = 1900
elif x == 1901:
    y = 1901
elif x == 1902:
    y = 1902
elif x == 1903:
    y = 1903
elif x == 1904:
    y = 1904
elif x == 1905:
    y = 1905
elif x == 1906:
    y = 1906
elif x == 1907:
    y = 1907
elif x == 1908:
    y = 1908
elif x == 1909:
    y = 1909
elif x == 1910:
    y = 1910
elif x == 1911:
    y = 1911
elif x == 1912:
    y = 1912
elif x == 1913:
    y = 1913
elif x == 1914:
    y = 1914
elif x == 1915:
    y = 1915
elif x == 1916:
    y = 1916
elif x == 1917:
    y = 1917
elif x == 1918:
    y = 1918
elif x == 1919:
    y = 1919
elif x == 1920:
    y = 1920
elif x == 1921:
    y = 1921
elif x == 1922:
    y = 1922
elif x == 1923:
    y = 1923
elif x == 1924:
    y = 1924
elif x == 1925:
    y = 1925
elif x == 1926:
    y = 1926
elif x == 1927:
    y = 1927
elif x == 1928:
    y = 1928
elif x == 1929:
    y = 1929
elif x == 1930:
    y = 1930
elif x == 1931:
    y = 1931
elif x == 1932:
    y = 1932
elif x == 1933:
    y = 1933
elif x == 1934:
    y = 1934
elif x == 1935:
    y = 1935
elif x == 1936:
    y = 1936
elif x == 1937:
    y = 1937
elif x == 1938:
    y = 1938
elif x == 1939:
    y = 1939
elif x == 1940:
    y = 1940
elif x == 1941:
    y = 1941
elif x == 1942:
    y = 1942
elif x == 1943:
    y = 1943
elif x == 1944:
    y = 1944
elif x == 1945:
    y = 1945
elif x == 1946:
    y = 1946
elif x == 1947:
    y = 1947
elif x == 1948:
    y = 1948
elif x == 1949:
    y = 1949
elif x == 1950:
    y = 1950
elif x == 1951:
    y = 1951
elif x == 1952:
    y = 1952
elif x == 1953:
    y = 1953
elif x == 1954:
    y = 1954
elif x == 1955:
    y = 1955
elif x == 1956:
    y = 1956
elif x == 1957:
    y = 1957
elif x == 1958:
    y = 1958
elif x == 1959:
    y = 1959
elif x == 1960:
    y = 1960
elif x == 1961:
    y = 1961
elif x == 1962:
    y = 1962
elif x == 1963:
    y = 1963
elif x == 1964:
    y = 1964
elif x == 1965:
    y = 1965
elif x == 1966:
    y = 1966
elif x == 1967:
    y = 1967
elif x == 1968:
    y = 1968
elif x == 1969:
    y = 1969
elif x == 1970:
    y = 1970
elif x == 1971:
    y = 1971
elif x == 1972:
    y = 1972
elif x == 1973:
    y = 1973
elif x == 1974:
    y = 1974
elif x == 1975:
    y = 1975
elif x == 1976:
    y = 1976
elif x == 1977:
    y = 1977
elif x == 1978:
    y = 1978
elif x == 1979:
    y = 1979
elif x == 1980:
    y = 1980
elif x == 1981:
    y = 1981
elif x == 1982:
    y = 1982
elif x == 1983:
    y = 1983
elif x == 1984:
    y = 1984
elif x == 1985:
    y = 1985
elif x == 1986:
    y = 1986
elif x == 1987:
    y = 1987
elif x == 1988:
    y = 1988
elif x == 1989:
    y = 1989
elif x == 1990:
    y = 1990
elif x == 1991:
    y = 1991
elif x == 1992:
    y = 1992
elif x == 1993:
    y = 1993
elif x == 1994:
    y = 1994
elif x == 1995:
    y = 1995
elif x == 1996:
    y = 1996
elif x == 1997:
    y = 1997
elif x == 1998:
    y = 1998
elif x == 1999:
    y = 1999
elif x == 2000:
    y = 2000
elif x == 2001:
    y = 2001
elif x == 2002:
    y = 2002
elif x == 2003:
    y = 2003
elif x == 2004:
    y = 2004
elif x == 2005:
    y = 2005
elif x == 2006:
    y = 2006
elif x == 2007:
    y = 2007
elif x == 2008:
    y = 2008
elif x == 2009:
    y = 2009
elif x == 2010:
    y = 2010
elif x == 2011:
    y = 2011
elif x == 2012:
    y = 2012
elif x == 2013:
    y = 2013
elif x == 2014:
    y = 2014
elif x == 2015:
    y = 2015
elif x == 2016:
    y = 2016
elif x == 2017:
    y = 2017
elif x == 2018:
    y = 2018
elif x == 2019:
    y = 2019
elif x == 2020:
    y = 2020
elif x == 2021:
    y = 2021
elif x == 2022:
    y = 2022
elif x == 2023:
    y = 2023
elif x == 2024:
    y = 2024
elif x == 2025:
    y = 2025
elif x == 2026:
    y = 2026
elif x == 2027:
    y = 2027
elif x == 2028:
    y = 2028
elif x == 2029:
    y = 2029
elif x == 2030:
    y = 2030
elif x == 2031:
    y = 2031
elif x == 2032:
    y = 2032
elif x == 2033:
    y = 2033
elif x == 2034:
    y = 2034
elif x == 2035:
    y = 2035
elif x == 2036:
    y = 2036
elif x == 2037:
    y = 2037
elif x == 2038:
    y = 2038
elif x == 2039:
    y = 2039
elif x == 2040:
    y = 2040
elif x == 2041:
    y = 2041
elif x == 2042:
    y = 2042
elif x == 2043:
    y = 2043
elif x == 2044:
    y = 2044
elif x == 2045:
    y = 2045
elif x == 2046:
    y = 2046
elif x == 2047:
    y = 2047
elif x == 2048:
    y = 2048
elif x == 2049:
    y = 2049
elif x == 2050:
    y = 2050
elif x == 2051:
    y = 2051
elif x == 2052:
    y = 2052
elif x == 2053:
    y = 2053
elif x == 2054:
    y = 2054
elif x == 2055:
    y = 2055
elif x == 2056:
    y = 2056
elif x == 2057:
    y = 2057
elif x == 2058:
    y = 2058
elif x == 2059:
    y = 2059
elif x == 2060:
    y = 2060
elif x == 2061:
    y = 2061
elif x == 2062:
    y = 2062
elif x == 2063:
    y = 2063
elif x == 2064:
    y = 2064
elif x == 2065:
    y = 2065
elif x == 2066:
    y = 2066
elif x == 2067:
    y = 2067
elif x == 2068:
    y = 2068
elif x == 2069:
    y = 2069
elif x == 2070:
    y = 2070
elif x == 2071:
    y = 2071
elif x == 2072:
    y = 2072
elif x == 2073:
    y = 2073
elif x == 2074:
    y = 2074
elif x == 2075:
    y = 2075
elif x == 2076:
    y = 2076
elif x == 2077:
    y = 2077
elif x == 2078:
    y = 2078
elif x == 2079:
    y = 2079
elif x == 2080:
    y = 2080
elif x == 2081:
    y = 2081
elif x == 2082:
    y = 2082
elif x == 2083:
    y = 2083
elif x == 2084:
    y = 2084
elif x == 2085:
    y = 2085
elif x == 2086:
    y = 2086
elif x == 2087:
    y = 2087
elif x == 2088:
    y = 2088
elif x == 2089:
    y = 2089
elif x == 2090:
    y = 2090
elif x == 2091:
    y = 2091
elif x == 2092:
    y = 2092
elif x == 2093:
    y = 2093
elif x == 2094:
    y = 2094
elif x == 2095:
    y = 2095
elif x == 2096:
    y = 2096
elif x == 2097:
    y = 2097
elif x == 2098:
    y = 2098
elif x == 2099:
    y = 2099
elif x == 2100:
    y = 2100
elif x == 2101:
    y = 2101
elif x == 2102:
    y = 2102
elif x == 2103:
    y = 2103
elif x == 2104:
    y = 2104
elif x == 2105:
    y = 2105
elif x == 2106:
    y = 2106
elif x == 2107:
    y = 2107
elif x == 2108:
    y = 2108
elif x == 2109:
    y = 2109
elif x == 2110:
    y = 2110
elif x == 2111:
    y = 2111
elif x == 2112:
    y = 2112
elif x == 2113:
    y = 2113
elif x == 2114:
    y = 2114
elif x == 2115:
    y = 2115
elif x == 2116:
    y = 2116
elif x == 2117:
    y = 2117
elif x == 2118:
    y = 2118
elif x == 2119:
    y = 2119
elif x == 2120:
    y = 2120
elif x == 2121:
    y = 2121
elif x == 2122:
    y = 2122
elif x == 2123:
    y = 2123
elif x == 2124:
    y = 2124
elif x == 2125:
    y = 2125
elif x == 2126:
    y = 2126
elif x == 2127:
    y = 2127
elif x == 2128:
    y = 2128
elif x == 2129:
    y = 2129
elif x == 2130:
    y = 2130
elif x == 2131:
    y = 2131
elif x == 2132:
    y = 2132
elif x == 2133:
    y = 2133
elif x == 2134:
    y = 2134
elif x == 2135:
    y = 2135
elif x == 2136:
    y = 2136
elif x == 2137:
    y = 2137
elif x == 2138:
    y = 2138
elif x == 2139:
    y = 2139
elif x == 2140:
    y = 2140
elif x == 2141:
    y = 2141
elif x == 2142:
    y = 2142
elif x == 2143:
    y = 2143
elif x == 2144:
    y = 2144
elif x == 2145:
    y = 2145
elif x == 2146:
    y = 2146
elif x == 2147:
    y = 2147
elif x == 2148:
    y = 2148
elif x == 2149:
    y = 2149
elif x == 2150:
    y = 2150
elif x == 2151:
    y = 2151
elif x == 2152:
    y = 2152
elif x == 2153:
    y = 2153
elif x == 2154:
    y = 2154
elif x == 2155:
    y = 2155
elif x == 2156:
    y = 2156
elif x == 2157:
    y = 2157
elif x == 2158:
    y = 2158
elif x == 2159:
    y = 2159
elif x == 2160:
    y = 2160
elif x == 2161:
    y = 2161
elif x == 2162:
    y = 2162
elif x == 2163:
    y = 2163
elif x == 2164:
    y = 2164
elif x == 2165:
    y = 2165
elif x == 2166:
    y = 2166
elif x == 2167:
    y = 2167
elif x == 2168:
    y = 2168
elif x == 2169:
    y = 2169
elif x == 2170:
    y = 2170
elif x == 2171:
    y = 2171
elif x == 2172:
    y = 2172
elif x == 2173:
    y = 2173
elif x == 2174:
    y = 2174
elif x == 2175:
    y = 2175
elif x == 2176:
    y = 2176
elif x == 2177:
    y = 2177
elif x == 2178:
    y = 2178
elif x == 2179:
    y = 2179
elif x == 2180:
    y = 2180
elif x == 2181:
    y = 2181
elif x == 2182:
    y = 2182
elif x == 2183:
    y = 2183
elif x == 2184:
    y = 2184
elif x == 2185:
    y = 2185
elif x == 2186:
    y = 2186
elif x == 2187:
    y = 2187
elif x == 2188:
    y = 2188
elif x == 2189:
    y = 2189
elif x == 2190:
    y = 2190
elif x == 2191:
    y = 2191
elif x == 2192:
    y = 2192
elif x == 2193:
    y = 2193
elif x == 2194:
    y = 2194
elif x == 2195:
    y = 2195
elif x == 2196:
    y = 2196
elif x == 2197:
    y = 2197
elif x == 2198:
    y = 2198
elif x == 2199:
    y = 2199
elif x == 2200:
    y = 2200
elif x == 2201:
    y = 2201
elif x == 2202:
    y = 2202
elif x == 2203:
    y = 2203
elif x == 2204:
    y = 2204
elif x == 2205:
    y = 2205
elif x == 2206:
    y = 2206
elif x == 2207:
    y = 2207
elif x == 2208:
    y = 2208
elif x == 2209:
    y = 2209
elif x == 2210:
    y = 2210
elif x == 2211:
    y = 2211
elif x == 2212:
    y = 2212
elif x == 2213:
    y = 2213
elif x == 2214:
    y = 2214
elif x == 2215:
    y = 2215
elif x == 2216:
    y = 2216
elif x == 2217:
    y = 2217
elif x == 2218:
    y = 2218
elif x == 2219:
    y = 2219
elif x == 2220:
    y = 2220
elif x == 2221:
    y = 2221
elif x == 2222:
    y = 2222
elif x == 2223:
    y = 2223
elif x == 2224:
    y = 2224
elif x == 2225:
    y = 2225
elif x == 2226:
    y = 2226
elif x == 2227:
    y = 2227
elif x == 2228:
    y = 2228
elif x == 2229:
    y = 2229
elif x == 2230:
    y = 2230
elif x == 2231:
    y = 2231
elif x == 2232:
    y = 2232
elif x == 2233:
    y = 2233
elif x == 2234:
    y = 2234
elif x == 2235:
    y = 2235
elif x == 2236:
    y = 2236
elif x == 2237:
    y = 2237
elif x == 2238:
    y = 2238
elif x == 2239:
    y = 2239
elif x == 2240:
    y = 2240
elif x == 2241:
    y = 2241
elif x == 2242:
    y = 2242
elif x == 2243:
    y = 2243
elif x == 2244:
    y = 2244
elif x == 2245:
    y = 2245
elif x == 2246:
    y = 2246
elif x == 2247:
    y = 2247
elif x == 2248:
    y = 2248
elif x == 2249:
    y = 2249
elif x == 2250:
    y = 2250
elif x == 2251:
    y = 2251
elif x == 2252:
    y = 2252
elif x == 2253:
    y = 2253
elif x == 2254:
    y = 2254
elif x == 2255:
    y = 2255
elif x == 2256:
    y = 2256
elif x == 2257:
    y = 2257
elif x == 2258:
    y = 2258
elif x == 2259:
    y = 2259
elif x == 2260:
    y = 2260
elif x == 2261:
    y = 2261
elif x == 2262:
    y = 2262
elif x == 2263:
    y = 2263
elif x == 2264:
    y = 2264
elif x == 2265:
    y = 2265
elif x == 2266:
    y = 2266
elif x == 2267:
    y = 2267
elif x == 2268:
    y = 2268
elif x == 2269:
    y = 2269
elif x == 2270:
    y = 2270
elif x == 2271:
    y = 2271
elif x == 2272:
    y = 2272
elif x == 2273:
    y = 2273
elif x == 2274:
    y = 2274
elif x == 2275:
    y = 2275
elif x == 2276:
    y = 2276
elif x == 2277:
    y = 2277
elif x == 2278:
    y = 2278
elif x == 2279:
    y = 2279
elif x == 2280:
    y = 2280
elif x == 2281:
    y = 2281
elif x == 2282:
    y = 2282
elif x == 2283:
    y = 2283
elif x == 2284:
    y = 2284
elif x == 2285:
    y = 2285
elif x == 2286:
    y = 2286
elif x == 2287:
    y = 2287
elif x == 2288:
    y = 2288
elif x == 2289:
    y = 2289
elif x == 2290:
    y = 2290
elif x == 2291:
    y = 2291
elif x == 2292:
    y = 2292
elif x == 2293:
    y = 2293
elif x == 2294:
    y = 2294
elif x == 2295:
    y = 2295
elif x == 2296:
    y = 2296
elif x == 2297:
    y = 2297
elif x == 2298:
    y = 2298
elif x == 2299:
    y = 2299
elif x == 2300:
    y = 2300
elif x == 2301:
    y = 2301
elif x == 2302:
    y = 2302
elif x == 2303:
    y = 2303
elif x == 2304:
    y = 2304
elif x == 2305:
    y = 2305
elif x == 2306:
    y = 2306
elif x == 2307:
    y = 2307
elif x == 2308:
    y = 2308
elif x == 2309:
    y = 2309
elif x == 2310:
    y = 2310
elif x == 2311:
    y = 2311
elif x == 2312:
    y = 2312
elif x == 2313:
    y = 2313
elif x == 2314:
    y = 2314
elif x == 2315:
    y = 2315
elif x == 2316:
    y = 2316
elif x == 2317:
    y = 2317
elif x == 2318:
    y = 2318
elif x == 2319:
    y = 2319
elif x == 2320:
    y = 2320
elif x == 2321:
    y = 2321
elif x == 2322:
    y = 2322
elif x == 2323:
    y = 2323
elif x == 2324:
    y = 2324
elif x == 2325:
    y = 2325
elif x == 2326:
    y = 2326
elif x == 2327:
    y = 2327
elif x == 2328:
    y = 2328
elif x == 2329:
    y = 2329
elif x == 2330:
    y = 2330
elif x == 2331:
    y = 2331
elif x == 2332:
    y = 2332
elif x == 2333:
    y = 2333
elif x == 2334:
    y = 2334
elif x == 2335:
    y = 2335
elif x == 2336:
    y = 2336
elif x == 2337:
    y = 2337
elif x == 2338:
    y = 2338
elif x == 2339:
    y = 2339
elif x == 2340:
    y = 2340
elif x == 2341:
    y = 2341
elif x == 2342:
    y = 2342
elif x == 2343:
    y = 2343
elif x == 2344:
    y = 2344
elif x == 2345:
    y = 2345
elif x == 2346:
    y = 2346
elif x == 2347:
    y = 2347
elif x == 2348:
    y = 2348
elif x == 2349:
    y = 2349
elif x == 2350:
    y = 2350
elif x == 2351:
    y = 2351
elif x == 2352:
    y = 2352
elif x == 2353:
    y = 2353
elif x == 2354:
    y = 2354
elif x == 2355:
    y = 2355
elif x == 2356:
    y = 2356
elif x == 2357:
    y = 2357
elif x == 2358:
    y = 2358
elif x == 2359:
    y = 2359
elif x == 2360:
    y = 2360
elif x == 2361:
    y = 2361
elif x == 2362:
    y = 2362
elif x == 2363:
    y = 2363
elif x == 2364:
    y = 2364
elif x == 2365:
    y = 2365
elif x == 2366:
    y = 2366
elif x == 2367:
    y = 2367
elif x == 2368:
    y = 2368
elif x == 2369:
    y = 2369
elif x == 2370:
    y = 2370
elif x == 2371:
    y = 2371
elif x == 2372:
    y = 2372
elif x == 2373:
    y = 2373
elif x == 2374:
    y = 2374
elif x == 2375:
    y = 2375
elif x == 2376:
    y = 2376
elif x == 2377:
    y = 2377
elif x == 2378:
    y = 2378
elif x == 2379:
    y = 2379
elif x == 2380:
    y = 2380
elif x == 2381:
    y = 2381
elif x == 2382:
    y = 2382
elif x == 2383:
    y = 2383
elif x == 2384:
    y = 2384
elif x == 2385:
    y = 2385
elif x == 2386:
    y = 2386
elif x == 2387:
    y = 2387
elif x == 2388:
    y = 2388
elif x == 2389:
    y = 2389
elif x == 2390:
    y = 2390
elif x == 2391:
    y = 2391
elif x == 2392:
    y = 2392
elif x == 2393:
    y = 2393
elif x == 2394:
    y = 2394
elif x == 2395:
    y = 2395
elif x == 2396:
    y = 2396
elif x == 2397:
    y = 2397
elif x == 2398:
    y = 2398
elif x == 2399:
    y = 2399
elif x == 2400:
    y = 2400
elif x == 2401:
    y = 2401
elif x == 2402:
    y = 2402
elif x == 2403:
    y = 2403
elif x == 2404:
    y = 2404
elif x == 2405:
    y = 2405
elif x == 2406:
    y = 2406
elif x == 2407:
    y = 2407
elif x == 2408:
    y = 2408
elif x == 2409:
    y = 2409
elif x == 2410:
    y = 2410
elif x == 2411:
    y = 2411
elif x == 2412:
    y = 2412
elif x == 2413:
    y = 2413
elif x == 2414:
    y = 2414
elif x == 2415:
    y = 2415
elif x == 2416:
    y = 2416
elif x == 2417:
    y = 2417
elif x == 2418:
    y = 2418
elif x == 2419:
    y = 2419
elif x == 2420:
    y = 2420
elif x == 2421:
    y = 2421
elif x == 2422:
    y = 2422
elif x == 2423:
    y = 2423
elif x == 2424:
    y = 2424
elif x == 2425:
    y = 2425
elif x == 2426:
    y = 2426
elif x == 2427:
    y = 2427
elif x == 2428:
    y = 2428
elif x == 2429:
    y = 2429
elif x == 2430:
    y = 2430
elif x == 2431:
    y = 2431
elif x == 2432:
    y = 2432
elif x == 2433:
    y = 2433
elif x == 2434:
    y = 2434
elif x == 2435:
    y = 2435
elif x == 2436:
    y = 2436
elif x == 2437:
    y = 2437
elif x == 2438:
    y = 2438
elif x == 2439:
    y = 2439
elif x == 2440:
    y = 2440
elif x == 2441:
    y = 2441
elif x == 2442:
    y = 2442
elif x == 2443:
    y = 2443
elif x == 2444:
    y = 2444
elif x == 2445:
    y = 2445
elif x == 2446:
    y = 2446
elif x == 2447:
    y = 2447
elif x == 2448:
    y = 2448
elif x == 2449:
    y = 2449
elif x == 2450:
    y = 2450
elif x == 2451:
    y = 2451
elif x == 2452:
    y = 2452
elif x == 2453:
    y = 2453
elif x == 2454:
    y = 2454
elif x == 2455:
    y = 2455
elif x == 2456:
    y = 2456
elif x == 2457:
    y = 2457
elif x == 2458:
    y = 2458
elif x == 2459:
    y = 2459
elif x == 2460:
    y = 2460
elif x == 2461:
    y = 2461
elif x == 2462:
    y = 2462
elif x == 2463:
    y = 2463
elif x == 2464:
    y = 2464
elif x == 2465:
    y = 2465
elif x == 2466:
    y = 2466
elif x == 2467:
    y = 2467
elif x == 2468:
    y = 2468
elif x == 2469:
    y = 2469
elif x == 2470:
    y = 2470
elif x == 2471:
    y = 2471
elif x == 2472:
    y = 2472
elif x == 2473:
    y = 2473
elif x == 2474:
    y = 2474
elif x == 2475:
    y = 2475
elif x == 2476:
    y = 2476
elif x == 2477:
    y = 2477
elif x == 2478:
    y = 2478
elif x == 2479:
    y = 2479
elif x == 2480:
    y = 2480
elif x == 2481:
    y = 2481
elif x == 2482:
    y = 2482
elif x == 2483:
    y = 2483
elif x == 2484:
    y = 2484
elif x == 2485:
    y = 2485
elif x == 2486:
    y = 2486
elif x == 2487:
    y = 2487
elif x == 2488:
    y = 2488
elif x == 2489:
    y = 2489
elif x == 2490:
    y = 2490
elif x == 2491:
    y = 2491
elif x == 2492:
    y = 2492
elif x == 2493:
    y = 2493
elif x == 2494:
    y = 2494
elif x == 2495:
    y = 2495
elif x == 2496:
    y = 2496
elif x == 2497:
    y = 2497
elif x == 2498:
    y = 2498
elif x == 2499:
    y = 2499
elif x == 2500:
    y = 2500
elif x == 2501:
    y = 2501
elif x == 2502:
    y = 2502
elif x == 2503:
    y = 2503
elif x == 2504:
    y = 2504
elif x == 2505:
    y = 2505
elif x == 2506:
    y = 2506
elif x == 2507:
    y = 2507
elif x == 2508:
    y = 2508
elif x == 2509:
    y = 2509
elif x == 2510:
    y = 2510
elif x == 2511:
    y = 2511
elif x == 2512:
    y = 2512
elif x == 2513:
    y = 2513
elif x == 2514:
    y = 2514
elif x == 2515:
    y = 2515
elif x == 2516:
    y = 2516
elif x == 2517:
    y = 2517
elif x == 2518:
    y = 2518
elif x == 2519:
    y = 2519
elif x == 2520:
    y = 2520
elif x == 2521:
    y = 2521
elif x == 2522:
    y = 2522
elif x == 2523:
    y = 2523
elif x == 2524:
    y = 2524
elif x == 2525:
    y = 2525
elif x == 2526:
    y = 2526
elif x == 2527:
    y = 2527
elif x == 2528:
    y = 2528
elif x == 2529:
    y = 2529
elif x == 2530:
    y = 2530
elif x == 2531:
    y = 2531
elif x == 2532:
    y = 2532
elif x == 2533:
    y = 2533
elif x == 2534:
    y = 2534
elif x == 2535:
    y = 2535
elif x == 2536:
    y = 2536
elif x == 2537:
    y = 2537
elif x == 2538:
    y = 2538
elif x == 2539:
    y = 2539
elif x == 2540:
    y = 2540
elif x == 2541:
    y = 2541
elif x == 2542:
    y = 2542
elif x == 2543:
    y = 2543
elif x == 2544:
    y = 2544
elif x == 2545:
    y = 2545
elif x == 2546:
    y = 2546
elif x == 2547:
    y = 2547
elif x == 2548:
    y = 2548
elif x == 2549:
    y = 2549
elif x == 2550:
    y = 2550
elif x == 2551:
    y = 2551
elif x == 2552:
    y = 2552
elif x == 2553:
    y = 2553
elif x == 2554:
    y = 2554
elif x == 2555:
    y = 2555
elif x == 2556:
    y = 2556
elif x == 2557:
    y = 2557
elif x == 2558:
    y = 2558
elif x == 2559:
    y = 2559
elif x == 2560:
    y = 2560
elif x == 2561:
    y = 2561
elif x == 2562:
    y = 2562
elif x == 2563:
    y = 2563
elif x == 2564:
    y = 2564
elif x == 2565:
    y = 2565
elif x == 2566:
    y = 2566
elif x == 2567:
    y = 2567
elif x == 2568:
    y = 2568
elif x == 2569:
    y = 2569
elif x == 2570:
    y = 2570
elif x == 2571:
    y = 2571
elif x == 2572:
    y = 2572
elif x == 2573:
    y = 2573
elif x == 2574:
    y = 2574
elif x == 2575:
    y = 2575
elif x == 2576:
    y = 2576
elif x == 2577:
    y = 2577
elif x == 2578:
    y = 2578
elif x == 2579:
    y = 2579
elif x == 2580:
    y = 2580
elif x == 2581:
    y = 2581
elif x == 2582:
    y = 2582
elif x == 2583:
    y = 2583
elif x == 2584:
    y = 2584
elif x == 2585:
    y = 2585
elif x == 2586:
    y = 2586
elif x == 2587:
    y = 2587
elif x == 2588:
    y = 2588
elif x == 2589:
    y = 2589
elif x == 2590:
    y = 2590
elif x == 2591:
    y = 2591
elif x == 2592:
    y = 2592
elif x == 2593:
    y = 2593
elif x == 2594:
    y = 2594
elif x == 2595:
    y = 2595
elif x == 2596:
    y = 2596
elif x == 2597:
    y = 2597
elif x == 2598:
    y = 2598
elif x == 2599:
    y = 2599
elif x == 2600:
    y = 2600
elif x == 2601:
    y = 2601
elif x == 2602:
    y = 2602
elif x == 2603:
    y = 2603
elif x == 2604:
    y = 2604
elif x == 2605:
    y = 2605
elif x == 2606:
    y = 2606
elif x == 2607:
    y = 2607
elif x == 2608:
    y = 2608
elif x == 2609:
    y = 2609
elif x == 2610:
    y = 2610
elif x == 2611:
    y = 2611
elif x == 2612:
    y = 2612
elif x == 2613:
    y = 2613
elif x == 2614:
    y = 2614
elif x == 2615:
    y = 2615
elif x == 2616:
    y = 2616
elif x == 2617:
    y = 2617
elif x == 2618:
    y = 2618
elif x == 2619:
    y = 2619
elif x == 2620:
    y = 2620
elif x == 2621:
    y = 2621
elif x == 2622:
    y = 2622
elif x == 2623:
    y = 2623
elif x == 2624:
    y = 2624
elif x == 2625:
    y = 2625
elif x == 2626:
    y = 2626
elif x == 2627:
    y = 2627
elif x == 2628:
    y = 2628
elif x == 2629:
    y = 2629
elif x == 2630:
    y = 2630
elif x == 2631:
    y = 2631
elif x == 2632:
    y = 2632
elif x == 2633:
    y = 2633
elif x == 2634:
    y = 2634
elif x == 2635:
    y = 2635
elif x == 2636:
    y = 2636
elif x == 2637:
    y = 2637
elif x == 2638:
    y = 2638
elif x == 2639:
    y = 2639
elif x == 2640:
    y = 2640
elif x == 2641:
    y = 2641
elif x == 2642:
    y = 2642
elif x == 2643:
    y = 2643
elif x == 2644:
    y = 2644
elif x == 2645:
    y = 2645
elif x == 2646:
    y = 2646
elif x == 2647:
    y = 2647
elif x == 2648:
    y = 2648
elif x == 2649:
    y = 2649
elif x == 2650:
    y = 2650
elif x == 2651:
    y = 2651
elif x == 2652:
    y = 2652
elif x == 2653:
    y = 2653
elif x == 2654:
    y = 2654
elif x == 2655:
    y = 2655
elif x == 2656:
    y = 2656
elif x == 2657:
    y = 2657
elif x == 2658:
    y = 2658
elif x == 2659:
    y = 2659
elif x == 2660:
    y = 2660
elif x == 2661:
    y = 2661
elif x == 2662:
    y = 2662
elif x == 2663:
    y = 2663
elif x == 2664:
    y = 2664
elif x == 2665:
    y = 2665
elif x == 2666:
    y = 2666
elif x == 2667:
    y = 2667
elif x == 2668:
    y = 2668
elif x == 2669:
    y = 2669
elif x == 2670:
    y = 2670
elif x == 2671:
    y = 2671
elif x == 2672:
    y = 2672
elif x == 2673:
    y = 2673
elif x == 2674:
    y = 2674
elif x == 2675:
    y = 2675
elif x == 2676:
    y = 2676
elif x == 2677:
    y = 2677
elif x == 2678:
    y = 2678
elif x == 2679:
    y = 2679
elif x == 2680:
    y = 2680
elif x == 2681:
    y = 2681
elif x == 2682:
    y = 2682
elif x == 2683:
    y = 2683
elif x == 2684:
    y = 2684
elif x == 2685:
    y = 2685
elif x == 2686:
    y = 2686
elif x == 2687:
    y = 2687
elif x == 2688:
    y = 2688
elif x == 2689:
    y = 2689
elif x == 2690:
    y = 2690
elif x == 2691:
    y = 2691
elif x == 2692:
    y = 2692
elif x == 2693:
    y = 2693
elif x == 2694:
    y = 2694
elif x == 2695:
    y = 2695
elif x == 2696:
    y = 2696
elif x == 2697:
    y = 2697
elif x == 2698:
    y = 2698
elif x == 2699:
    y = 2699
elif x == 2700:
    y = 2700
elif x == 2701:
    y = 2701
elif x == 2702:
    y = 2702
elif x == 2703:
    y = 2703
elif x == 2704:
    y = 2704
elif x == 2705:
    y = 2705
elif x == 2706:
    y = 2706
elif x == 2707:
    y = 2707
elif x == 2708:
    y = 2708
elif x == 2709:
    y = 2709
elif x == 2710:
    y = 2710
elif x == 2711:
    y = 2711
elif x == 2712:
    y = 2712
elif x == 2713:
    y = 2713
elif x == 2714:
    y = 2714
elif x == 2715:
    y = 2715
elif x == 2716:
    y = 2716
elif x == 2717:
    y = 2717
elif x == 2718:
    y = 2718
elif x == 2719:
    y = 2719
elif x == 2720:
    y = 2720
elif x == 2721:
    y = 2721
elif x == 2722:
    y = 2722
elif x == 2723:
    y = 2723
elif x == 2724:
    y = 2724
elif x == 2725:
    y = 2725
elif x == 2726:
    y = 2726
elif x == 2727:
    y = 2727
elif x == 2728:
    y = 2728
elif x == 2729:
    y = 2729
elif x == 2730:
    y = 2730
elif x == 2731:
    y = 2731
elif x == 2732:
    y = 2732
elif x == 2733:
    y = 2733
elif x == 2734:
    y = 2734
elif x == 2735:
    y = 2735
elif x == 2736:
    y = 2736
elif x == 2737:
    y = 2737
elif x == 2738:
    y = 2738
elif x == 2739:
    y = 2739
elif x == 2740:
    y = 2740
elif x == 2741:
    y = 2741
elif x == 2742:
    y = 2742
elif x == 2743:
    y = 2743
elif x == 2744:
    y = 2744
elif x == 2745:
    y = 2745
elif x == 2746:
    y = 2746
elif x == 2747:
    y = 2747
elif x == 2748:
    y = 2748
elif x == 2749:
    y = 2749
elif x == 2750:
    y = 2750
elif x == 2751:
    y = 2751
elif x == 2752:
    y = 2752
elif x == 2753:
    y = 2753
elif x == 2754:
    y = 2754
elif x == 2755:
    y = 2755
elif x == 2756:
    y = 2756
elif x == 2757:
    y = 2757
elif x == 2758:
    y = 2758
elif x == 2759:
    y = 2759
elif x == 2760:
    y = 2760
elif x == 2761:
    y = 2761
elif x == 2762:
    y = 2762
elif x == 2763:
    y = 2763
elif x == 2764:
    y = 2764
elif x == 2765:
    y = 2765
elif x == 2766:
    y = 2766
elif x == 2767:
    y = 2767
elif x == 2768:
    y = 2768
elif x == 2769:
    y = 2769
elif x == 2770:
    y = 2770
elif x == 2771:
    y = 2771
elif x == 2772:
    y = 2772
elif x == 2773:
    y = 2773
elif x == 2774:
    y = 2774
elif x == 2775:
    y = 2775
elif x == 2776:
    y = 2776
elif x == 2777:
    y = 2777
elif x == 2778:
    y = 2778
elif x == 2779:
    y = 2779
elif x == 2780:
    y = 2780
elif x == 2781:
    y = 2781
elif x == 2782:
    y = 2782
elif x == 2783:
    y = 2783
elif x == 2784:
    y = 2784
elif x == 2785:
    y = 2785
elif x == 2786:
    y = 2786
elif x == 2787:
    y = 2787
elif x == 2788:
    y = 2788
elif x == 2789:
    y = 2789
elif x == 2790:
    y = 2790
elif x == 2791:
    y = 2791
elif x == 2792:
    y = 2792
elif x == 2793:
    y = 2793
elif x == 2794:
    y = 2794
elif x == 2795:
    y = 2795
elif x == 2796:
    y = 2796
elif x == 2797:
    y = 2797
elif x == 2798:
    y = 2798
elif x == 2799:
    y = 2799
elif x == 2800:
    y = 2800
elif x == 2801:
    y = 2801
elif x == 2802:
    y = 2802
elif x == 2803:
    y = 2803
elif x == 2804:
    y = 2804
elif x == 2805:
    y = 2805
elif x == 2806:
    y = 2806
elif x == 2807:
    y = 2807
elif x == 2808:
    y = 2808
elif x == 2809:
    y = 2809
elif x == 2810:
    y = 2810
elif x == 2811:
    y = 2811
elif x == 2812:
    y = 2812
elif x == 2813:
    y = 2813
elif x == 2814:
    y = 2814
elif x == 2815:
    y = 2815
elif x == 2816:
    y = 2816
elif x == 2817:
    y = 2817
elif x == 2818:
    y = 2818
elif x == 2819:
    y = 2819
elif x == 2820:
    y = 2820
elif x == 2821:
    y = 2821
elif x == 2822:
    y = 2822
elif x == 2823:
    y = 2823
elif x == 2824:
    y = 2824
elif x == 2825:
    y = 2825
elif x == 2826:
    y = 2826
elif x == 2827:
    y = 2827
elif x == 2828:
    y = 2828
elif x == 2829:
    y = 2829
elif x == 2830:
    y = 2830
elif x == 2831:
    y = 2831
elif x == 2832:
    y = 2832
elif x == 2833:
    y = 2833
elif x == 2834:
    y = 2834
elif x == 2835:
    y = 2835
elif x == 2836:
    y = 2836
elif x == 2837:
    y = 2837
elif x == 2838:
    y = 2838
elif x == 2839:
    y = 2839
elif x == 2840:
    y = 2840
elif x == 2841:
    y = 2841
elif x == 2842:
    y = 2842
elif x == 2843:
    y = 2843
elif x == 2844:
    y = 2844
elif x == 2845:
    y = 2845
elif x == 2846:
    y = 2846
elif x == 2847:
    y = 2847
elif x == 2848:
    y = 2848
elif x == 2849:
    y = 2849
elif x == 2850:
    y = 2850
elif x == 2851:
    y = 2851
elif x == 2852:
    y = 2852
elif x == 2853:
    y = 2853
elif x == 2854:
    y = 2854
elif x == 2855:
    y = 2855
elif x == 2856:
    y = 2856
elif x == 2857:
    y = 2857
elif x == 2858:
    y = 2858
elif x == 2859:
    y = 2859
elif x == 2860:
    y = 2860
elif x == 2861:
    y = 2861
elif x == 2862:
    y = 2862
elif x == 2863:
    y = 2863
elif x == 2864:
    y = 2864
elif x == 2865:
    y = 2865
elif x == 2866:
    y = 2866
elif x == 2867:
    y = 2867
elif x == 2868:
    y = 2868
elif x == 2869:
    y = 2869
elif x == 2870:
    y = 2870
elif x == 2871:
    y = 2871
elif x == 2872:
    y = 2872
elif x == 2873:
    y = 2873
elif x == 2874:
    y = 2874
elif x == 2875:
    y = 2875
elif x == 2876:
    y = 2876
elif x == 2877:
    y = 2877
elif x == 2878:
    y = 2878
elif x == 2879:
    y = 2879
elif x == 2880:
    y = 2880
elif x == 2881:
    y = 2881
elif x == 2882:
    y = 2882
elif x == 2883:
    y = 2883
elif x == 2884:
    y = 2884
elif x == 2885:
    y = 2885
elif x == 2886:
    y = 2886
elif x == 2887:
    y = 2887
elif x == 2888:
    y = 2888
elif x == 2889:
    y = 2889
elif x == 2890:
    y = 2890
elif x == 2891:
    y = 2891
elif x == 2892:
    y = 2892
elif x == 2893:
    y = 2893
elif x == 2894:
    y = 2894
elif x == 2895:
    y = 2895
elif x == 2896:
    y = 2896
elif x == 2897:
    y = 2897
elif x == 2898:
    y = 2898
elif x == 2899:
    y = 2899
elif x == 2900:
    y = 2900
elif x == 2901:
    y = 2901
elif x == 2902:
    y = 2902
elif x == 2903:
    y = 2903
elif x == 2904:
    y = 2904
elif x == 2905:
    y = 2905
elif x == 2906:
    y = 2906
elif x == 2907:
    y = 2907
elif x == 2908:
    y = 2908
elif x == 2909:
    y = 2909
elif x == 2910:
    y = 2910
elif x == 2911:
    y = 2911
elif x == 2912:
    y = 2912
elif x == 2913:
    y = 2913
elif x == 2914:
    y = 2914
elif x == 2915:
    y = 2915
elif x == 2916:
    y = 2916
elif x == 2917:
    y = 2917
elif x == 2918:
    y = 2918
elif x == 2919:
    y = 2919
elif x == 2920:
    y = 2920
elif x == 2921:
    y = 2921
elif x == 2922:
    y = 2922
elif x == 2923:
    y = 2923
elif x == 2924:
    y = 2924
elif x == 2925:
    y = 2925
elif x == 2926:
    y = 2926
elif x == 2927:
    y = 2927
elif x == 2928:
    y = 2928
elif x == 2929:
    y = 2929
elif x == 2930:
    y = 2930
elif x == 2931:
    y = 2931
elif x == 2932:
    y = 2932
elif x == 2933:
    y = 2933
elif x == 2934:
    y = 2934
elif x == 2935:
    y = 2935
elif x == 2936:
    y = 2936
elif x == 2937:
    y = 2937
elif x == 2938:
    y = 2938
elif x == 2939:
    y = 2939
elif x == 2940:
    y = 2940
elif x == 2941:
    y = 2941
elif x == 2942:
    y = 2942
elif x == 2943:
    y = 2943
elif x == 2944:
    y = 2944
elif x == 2945:
    y = 2945
elif x == 2946:
    y = 2946
elif x == 2947:
    y = 2947
elif x == 2948:
    y = 2948
elif x == 2949:
    y = 2949
elif x == 2950:
    y = 2950
elif x == 2951:
    y = 2951
elif x == 2952:
    y = 2952
elif x == 2953:
    y = 2953
elif x == 2954:
    y = 2954
elif x == 2955:
    y = 2955
elif x == 2956:
    y = 2956
elif x == 2957:
    y = 2957
elif x == 2958:
    y = 2958
elif x == 2959:
    y = 2959
elif x == 2960:
    y = 2960
elif x == 2961:
    y = 2961
elif x == 2962:
    y = 2962
elif x == 2963:
    y = 2963
elif x == 2964:
    y = 2964
elif x == 2965:
    y = 2965
elif x == 2966:
    y = 2966
elif x == 2967:
    y = 2967
elif x == 2968:
    y = 2968
elif x == 2969:
    y = 2969
elif x == 2970:
    y = 2970
elif x == 2971:
    y = 2971
elif x == 2972:
    y = 2972
elif x == 2973:
    y = 2973
elif x == 2974:
    y = 2974
elif x == 2975:
    y = 2975
elif x == 2976:
    y = 2976
elif x == 2977:
    y = 2977
elif x == 2978:
    y = 2978
elif x == 2979:
    y = 2979
elif x == 2980:
    y = 2980
elif x == 2981:
    y = 2981
elif x == 2982:
    y = 2982
elif x == 2983:
    y = 2983
elif x == 2984:
    y = 2984
elif x == 2985:
    y = 2985
elif x == 2986:
    y = 2986
elif x == 2987:
    y = 2987
elif x == 2988:
    y = 2988
elif x == 2989:
    y = 2989
elif x == 2990:
    y = 2990
elif x == 2991:
    y = 2991
elif x == 2992:
    y = 2992
elif x == 2993:
    y = 2993
elif x == 2994:
    y = 2994
elif x == 2995:
    y = 2995
elif x == 2996:
    y = 2996
elif x == 2997:
    y = 2997
elif x == 2998:
    y = 2998
elif x == 2999:
    y = 2999
